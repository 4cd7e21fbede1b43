import Foundation
import Testing
import Wire

/// The image, the file for several containers, and the manifests for Kubernetes.
@Suite(.timeLimit(.minutes(10)), .enabled(if: DeployFiles.areCheckable))
struct ContainerFileTests {
  private static let manifests = ["account", "settings", "deployment", "service", "disruption", "network"]
    .map { "kubernetes/\($0).yaml" }

  @Test func `the image is built of the one list of packages, and of what is let through to it`() throws {
    let image = try DeployFiles.text("docker/Dockerfile")
    let packages = try DeployFiles.text("packages.sh")
    let names = packages.split { !($0.isLetter || $0.isNumber || "-.".contains($0)) }
      .filter { $0.hasPrefix("lib") && $0.contains(where: \.isNumber) }
    #expect(names.count > 10)
    #expect(!image.contains("apt-get"))
    for name in names { #expect(!image.contains(name), "\(name)") }
    let ignored = try String(contentsOfFile: DeployFiles.root + "/.dockerignore", encoding: .utf8)
    let allowed = Set(ignored.split(separator: "\n"))
    for line in image.split(separator: "\n") where line.hasPrefix("COPY ") && !line.contains("--from=") {
      for source in line.split(separator: " ").dropFirst().dropLast() {
        #expect(allowed.contains("!\(source)"), "\(source)")
        #expect(FileManager.default.fileExists(atPath: "\(DeployFiles.root)/\(source)"), "\(source)")
      }
    }
  }

  @Test func `what the program is linked with comes with the packages of the image`() async throws {
    let packages = try DeployFiles.text("packages.sh")
    let list = try #require(packages.firstRange(of: "runtime_packages=("))
    let runtime = Set(
      packages[list.upperBound...].prefix { $0 != ")" }.split(whereSeparator: \.isWhitespace).map(String.init)
    )
    let header = try await run("/usr/bin/objdump", ["-p", Program.bramley])
    let needed = header.output.split(separator: "\n").filter { $0.contains("NEEDED") }
      .compactMap { $0.split(separator: " ").last.map(String.init) }
    #expect(needed.contains { $0.hasPrefix("libsqlite3") })
    // Swift's own are in the image's program itself.
    for library in needed where !library.hasPrefix("libswift") && !library.hasPrefix("lib_") {
      let owners = try await run(
        "/usr/bin/dpkg", ["-S", "*/x86_64-linux-gnu/\(library)", "*/aarch64-linux-gnu/\(library)"])
      let owner = owners.output.split(separator: "\n").first?.prefix { $0 != ":" }
      let base: Set = ["libc6", "libgcc-s1", "libstdc++6"]
      #expect(
        owner.map { runtime.union(base).contains(String($0)) } == true,
        "\(library) is of \(owner ?? "nobody")")
    }
  }

  @Test func `the image's health check knows a service that is live from one that is not`() async throws {
    try await withService { service in
      let settings = ["BRAMLEY_LISTEN": "0.0.0.0:\(service.port)"]
      func check() async throws -> Finished {
        try await run("/bin/bash", [DeployFiles.folder + "/docker/health.sh"], environment: settings)
      }
      #expect(try await check().end == .exit(0))
      try await service.stop()
      #expect(try await check().status == 1)
    }
  }

  @Test func `secrets are made once, and for nobody else`() async throws {
    try await withStage { stage in
      let folder = try await stage.makeSecrets()
      let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      #expect(names == ["admin-token", "database-password", "database-url", "master-key", "service-keys"])
      let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
      #expect(mode == 0o700)
      func contents() throws -> [String] {
        try names.map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
      }
      let made = try contents()
      #expect(Set(made).count == made.count)
      _ = try await stage.makeSecrets()
      #expect(try contents() == made)
    }
  }

  @Test func `the containers are described as the Compose Specification says`() async throws {
    let file = DeployFiles.folder + "/docker/compose.yaml"
    let checked = try await DeployFiles.client(
      "check-jsonschema", ["--builtin-schema", "vendor.compose-spec", file])
    #expect(checked.status == 0, "\(checked.output)")
    let proxy = try await run("/usr/sbin/haproxy", ["-c", "-f", DeployFiles.folder + "/docker/haproxy.cfg"])
    #expect(proxy.status == 0, "\(proxy.errors)")
  }

  @Test func `the settings of every container are right, and it has the secrets that they name`() async throws
  {
    let compose = try #require(try await DeployFiles.documents("docker/compose.yaml").first)
    let services = try #require(compose.object("services"))
    try await withStage { stage in
      let made = Set(try FileManager.default.contentsOfDirectory(atPath: try await stage.makeSecrets()))
      for secret in compose.object("secrets")?.names ?? [] {
        #expect(compose.object("secrets")?.object(secret)?.text("file") == "secrets/\(secret)")
        #expect(made.contains(secret), "\(secret)")
      }
      var listeners: Set<String> = []
      for name in services.names {
        let service = try #require(services.object(name))
        guard service.text("image") == "bramley" else { continue }
        let environment = service.object("environment")?.plainTexts ?? [:]
        let judged = try await stage.judge(environment, secretsMountedAt: "/run/secrets")
        #expect(judged.status == 0, "\(name): \(judged.errors)")
        let named = environment.values.filter { $0.hasPrefix("/run/secrets/") }
          .map { String($0.dropFirst("/run/secrets/".count)) }
        #expect(Set(service.texts("secrets")) == Set(named), "\(name)")
        if let listen = environment["BRAMLEY_LISTEN"] { listeners.insert(listen) }
      }
      // What the proxy names.
      let proxied = try DeployFiles.text("docker/haproxy.cfg").split(separator: "\n")
        .filter { $0.contains(" apple:") }.compactMap { $0.split(separator: ":").last }.map {
          "0.0.0.0:" + $0
        }
      #expect(Set(proxied) == listeners)
      #expect(listeners.count == 3)
    }
  }

  @Test func `the manifests are what Kubernetes takes, and kustomize has all of them`() async throws {
    let checked = try await DeployFiles.client("kubernetes-validate", ["--strict"] + Self.manifests)
    #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
    let kustomization = try #require(try await DeployFiles.documents("kubernetes/kustomization.yaml").first)
    let all = try DeployFiles.all().filter {
      $0.hasPrefix("kubernetes/") && !$0.hasSuffix("kustomization.yaml")
    }
    #expect(Set(kustomization.texts("resources").map { "kubernetes/" + $0 }) == Set(all))
    #expect(Set(all) == Set(Self.manifests))
  }

  @Test func `the settings of every pod's containers are right`() async throws {
    let documents = try await DeployFiles.documents("kubernetes/settings.yaml", "kubernetes/deployment.yaml")
    let settings = try #require(documents.first?.object("data")?.plainTexts)
    let pod = try #require(documents.last?.object("spec")?.object("template")?.object("spec"))
    let containers = pod.objects("containers") + pod.objects("initContainers")
    try #require(containers.count == 2)
    try await withStage { stage in
      let made = Set(try FileManager.default.contentsOfDirectory(atPath: try await stage.makeSecrets()))
      for container in containers {
        var environment = settings
        for variable in container.objects("env") {
          environment[try #require(variable.text("name"))] = variable.text("value")
        }
        let mounted = "/run/secrets/bramley"
        let judged = try await stage.judge(environment, secretsMountedAt: mounted)
        #expect(judged.status == 0, "\(judged.errors)")
        for file in environment.values where file.hasPrefix(mounted) {
          #expect(made.contains(String(file.dropFirst(mounted.count + 1))), "\(file)")
        }
      }
    }
  }

  @Test func `a pod may do nothing that it does not need, and no variable is slipped into it`() async throws {
    let deployment = try #require(try await DeployFiles.documents("kubernetes/deployment.yaml").first)
    let pod = try #require(deployment.object("spec")?.object("template")?.object("spec"))
    #expect(pod.flag("enableServiceLinks") == false)
    #expect(pod.flag("automountServiceAccountToken") == false)
    #expect(pod.object("securityContext")?.flag("runAsNonRoot") == true)
    #expect(pod.object("securityContext")?.object("seccompProfile")?.text("type") == "RuntimeDefault")
    for container in pod.objects("containers") + pod.objects("initContainers") {
      let security = try #require(container.object("securityContext"))
      #expect(security.flag("allowPrivilegeEscalation") == false)
      #expect(security.flag("readOnlyRootFilesystem") == true)
      #expect(security.object("capabilities")?.texts("drop") == ["ALL"])
    }
    // The service ends within ten seconds of its signal, which comes after what goes before.
    #expect((pod.integer("terminationGracePeriodSeconds") ?? 0) > 15)
  }
}
