#!/usr/bin/env bash
# From nothing to a signed-in person: installs what is missing, builds, starts a stand-in for Apple and the service
# with a database in a temporary folder, and walks through a sign-in. Every request is shown as a command that can
# be typed again while the service runs on. With --once it ends after the walk.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=deploy/packages.sh
source deploy/packages.sh

once=false
case "${1-}" in
  "") ;;
  --once) once=true ;;
  *)
    echo "usage: deploy/demo.sh [--once]" >&2
    exit 64
    ;;
esac

need_swift
install_packages "${toolchain_packages[@]}" "${library_packages[@]}" curl jose jq
echo "Building (about a minute the first time) …"
build=(swift build -c release --static-swift-stdlib)
"${build[@]}" --product bramley >&2
"${build[@]}" --product bramley-mock-apple >&2
programs="$("${build[@]}" --show-bin-path)"
export PATH="$programs:$PATH"

# shellcheck source=deploy/programs.sh
source deploy/programs.sh
trap 'exit 0' INT TERM

start apple bramley-mock-apple serve --listen 127.0.0.1:0
apple="http://$address"
start bramley env BRAMLEY_LISTEN=127.0.0.1:0 "BRAMLEY_DATABASE_URL=sqlite:$folder/demo.db" \
  BRAMLEY_APPLE_CLIENT_IDS=com.example.demo "BRAMLEY_APPLE_BASE_URL=$apple" bramley serve
bramley="http://$address"

# shellcheck source=deploy/walk.sh
source deploy/walk.sh

say "A person is signed in."
if $once; then exit 0; fi
say "Bramley goes on serving at $bramley until Ctrl-C."
wait "${pids[-1]}"
