internal import HTTPServer
internal import Telemetry

/// `GET /openapi.yaml`, the description of this API as it was built, and `GET /metrics`.
struct Documents: Sendable {
  let metrics: Metrics

  func contract(_ call: Call) -> Response {
    Response(
      status: 200, headers: ["Content-Type": "application/yaml; charset=utf-8", "Cache-Control": "no-cache"],
      body: PackageResources.openapi_yaml)
  }

  func metrics(_ call: Call) -> Response {
    Response(
      status: 200,
      headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Cache-Control": "no-store"],
      body: metrics.text())
  }
}
