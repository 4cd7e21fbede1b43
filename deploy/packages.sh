# shellcheck shell=bash
# shellcheck disable=SC2034 # the lists are for whoever sources this
# Sourced by the other scripts: installs the Debian packages that are named and missing, without questions.

# What the Swift toolchain wants of the system in order to compile and link.
toolchain_packages=(binutils ca-certificates git libc6-dev libgcc-12-dev libncurses6 libstdc++-12-dev libxml2
  pkg-config tzdata zlib1g-dev)

# What Bramley is built on.
library_packages=(libssl-dev libcurl4-openssl-dev libjansson-dev libmicrohttpd-dev libpq-dev libsqlite3-dev libyaml-dev)

# The same libraries as the built program wants them, without headers: what the image holds beside it.
runtime_packages=(ca-certificates libcurl4 libjansson4 libmicrohttpd12 libpq5 libsqlite3-0 libssl3 libyaml-0-2)

# install_packages NAME…
install_packages() {
  local missing=() name
  for name in "$@"; do
    if [[ "$(dpkg-query -W -f='${Status}' "$name" 2>/dev/null)" != "install ok installed" ]]; then
      missing+=("$name")
    fi
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  local root=()
  if [[ $EUID -ne 0 ]]; then root=(sudo); fi
  echo "Installing: ${missing[*]}"
  (
    # Packages that bring a daemon start it, unless this file is there to say no.
    policy=/usr/sbin/policy-rc.d
    if [[ ! -e $policy ]]; then
      trap '"${root[@]}" rm -f "$policy"' EXIT
      trap 'exit 130' INT TERM
      printf '#!/bin/sh\nexit 101\n' | "${root[@]}" tee "$policy" >/dev/null
      "${root[@]}" chmod 755 "$policy"
    fi
    "${root[@]}" apt-get update -qq &&
      "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        "${missing[@]}" >/dev/null
  )
}

# Ends the script when there is no Swift compiler.
need_swift() {
  if ! command -v swift >/dev/null; then
    echo "There is no swift in PATH. Install the Swift 6.2 toolchain (or newer) from swift.org first." >&2
    exit 69
  fi
}
