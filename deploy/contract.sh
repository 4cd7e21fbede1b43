#!/usr/bin/env bash
# Holds openapi.yaml against the running service: the document is valid, made-up requests are answered as it says,
# and the metrics are what Prometheus reads. Takes the debug programs as they were built, and the packages of
# Tests/Clients/requirements.txt from .venv.
set -euo pipefail
cd "$(dirname "$0")/.."

programs="$(swift build --show-bin-path)"
# shellcheck source=deploy/programs.sh
source deploy/programs.sh
trap 'exit 130' INT TERM

.venv/bin/openapi-spec-validator openapi.yaml

start apple "$programs/bramley-mock-apple" serve --listen 127.0.0.1:0
apple="http://$address"
start bramley env BRAMLEY_LISTEN=127.0.0.1:0 "BRAMLEY_DATABASE_URL=sqlite:$folder/contract.db" \
  BRAMLEY_APPLE_CLIENT_IDS=com.example.contract "BRAMLEY_APPLE_BASE_URL=$apple" BRAMLEY_RATE_SIGNIN=off \
  BRAMLEY_RATE_REFRESH=off BRAMLEY_RATE_SIGNUP=off BRAMLEY_DEV_MODE=true BRAMLEY_ANONYMOUS=true \
  "$programs/bramley" serve
bramley="http://$address"

# A sign-in and a refresh, so that no series of the metrics is empty.
token="$("$programs/bramley-mock-apple" token --audience com.example.contract --nonce-raw n)"
answer="$(curl -sS --fail "$bramley/v1/signInWithIdp" -H 'Content-Type: application/json' \
  -d '{"idToken":"'"$token"'","rawNonce":"n"}')"
curl -sS --fail -o "$folder/refreshed" "$bramley/v1/token" -d grant_type=refresh_token \
  -d "refresh_token=$(jq -r .refreshToken <<<"$answer")"

# It keeps what it found in the folder that it works in.
top="$PWD"
(cd "$folder" && timeout 120 "$top/.venv/bin/schemathesis" --config-file "$top/Tests/Clients/schemathesis.toml" \
  run "$top/openapi.yaml" --url "$bramley" --phases examples,coverage,fuzzing --request-timeout 10 --no-color)

curl -sS --fail -o "$folder/metrics" "$bramley/metrics"
promtool check metrics <"$folder/metrics"

kill -0 "${pids[-1]}"
if grep -E '"level":"error"|"status":500' "$folder/bramley.log"; then
  echo "the service met a fault of its own" >&2
  exit 1
fi
