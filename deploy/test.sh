#!/usr/bin/env bash
# Installs what is missing, builds, runs every test, and ends with a line `N passed, N failed`.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 69
# shellcheck source=deploy/packages.sh
source deploy/packages.sh

passed=0
failed=0
failures=()

# step NAME COMMAND…: one thing that passes or fails as a whole.
step() {
  local name="$1"
  shift
  printf '\n== %s\n' "$name"
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    failures+=("$name")
  fi
}

# Only here, so that the package can be a part of apps (Package.swift).
export STRICT_BRAMLEY_BUILD=1

# Hundreds of tests that all begin at once keep each other waiting, and most of them start a service.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=12

# swift_tests NAME ARGUMENTS…: a run of the Swift tests, each test counted. A run that ends badly without a failed
# test (it crashed, or found no tests) counts as one failure. What failed is said again at the end.
swift_tests() {
  local name="$1" report status all bad
  shift
  report="$(mktemp -d)"
  printf '\n== %s\n' "$name"
  swift test --parallel --xunit-output "$report/report.xml" "$@" 2>&1 | tee "$report/log"
  status=${PIPESTATUS[0]}
  all="$(cat "$report"/*.xml 2>/dev/null | grep -c '<testcase ')"
  bad="$(cat "$report"/*.xml 2>/dev/null | grep -c '<failure')"
  if [[ $status -ne 0 && $bad -eq 0 ]] || [[ $all -eq 0 ]]; then
    all=$((all + 1))
    bad=$((bad + 1))
  fi
  passed=$((passed + all - bad))
  failed=$((failed + bad))
  if [[ $bad -gt 0 ]]; then
    failures+=("$name ($bad)")
    # An issue and the two lines after it, where the values are; or how a program ended that ended badly.
    mapfile -t -O "${#failures[@]}" failures < <(
      grep -E -A 2 '^✘ .* recorded an issue|: error: |Fatal error|signal code' "$report/log" | cut -c 1-600 | head -n 60)
  fi
  rm -rf "$report"
}

need_swift
install_packages "${toolchain_packages[@]}" "${library_packages[@]}" apache2 caddy chromium chromium-driver curl git \
  golang-github-coreos-go-oidc-dev golang-go haproxy jose jq libapache2-mod-auth-openidc nginx-light node-jose nodejs \
  openssl postgresql prometheus python3 python3-venv shellcheck systemd || exit 69

# Real clients, in a place of their own.
python3 -m venv .venv && .venv/bin/pip install --quiet --disable-pip-version-check \
  --requirement Tests/Clients/requirements.txt || exit 69
export CLIENTS_PYTHON="$PWD/.venv/bin/python3"

step "the sources are formatted" swift format lint --strict --recursive Package.swift Sources Tests
step "the scripts are sound" shellcheck --external-sources deploy/*.sh deploy/*/*.sh \
  deploy/debian/p* .ci/run
step "everything builds" swift build --build-tests
# Apart, so that hundreds of services that start and end are in nobody's way who looks at a clock.
swift_tests "the tests of the modules" --skip EndToEndTests
swift_tests "the tests of the programs" --filter EndToEndTests

# The modules that stand next to C, again under the sanitisers. The leaks that are left out are XCTest's own.
beside_c='ThreadsTests|CryptoTests|WireTests|OutboundTests|HTTPServerTests|TelemetryTests|StorageConformanceTests'
export TSAN_OPTIONS="suppressions=$PWD/Tests/thread-sanitizer.supp" ASAN_OPTIONS=detect_leaks=0
swift_tests "the tests beside C, under the thread sanitiser" \
  --sanitize=thread --scratch-path .build/tsan --filter "$beside_c"
swift_tests "the tests beside C, under the address sanitiser" \
  --sanitize=address --scratch-path .build/asan --filter "$beside_c"
step "the readers withstand the fuzzer" deploy/fuzz.sh 30
step "openapi.yaml says what the service does" deploy/contract.sh
step "the demonstration runs from beginning to end" deploy/demo.sh --once
step "the commands of the README run as written" deploy/readme.sh

printf '\n'
for line in "${failures[@]}"; do echo "failed: $line"; done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
