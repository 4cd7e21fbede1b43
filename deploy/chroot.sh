#!/usr/bin/env bash
# Carries out deploy/docker/Dockerfile without an engine: each stage becomes a folder made by debootstrap, each RUN happens
# in it. Then the last stage and the stand-in for Apple run as an engine would run them with --read-only, a sign-in is
# walked through, and the size of the image is told.
# usage: deploy/chroot.sh [image | package]
#
# `package` builds the Debian package instead and tries it in a fresh Debian: installs, upgrades, removes and purges it.
# Needs root, and leaves nothing behind but .build/chroot, where the next run finds what this one fetched and built.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=deploy/packages.sh
source deploy/packages.sh

mode="${1-image}"
if [[ $# -gt 1 || ! "$mode" =~ ^(image|package)$ ]]; then
  echo "usage: deploy/chroot.sh [image | package]" >&2
  exit 64
fi
if [[ $EUID -ne 0 ]]; then
  echo "deploy/chroot.sh has to be root: it makes a system of its own." >&2
  exit 69
fi
# What is mounted here is mounted for this script and its children alone, and all of it ends with them.
if [[ -z "${CHROOT_IS_APART-}" ]]; then
  export CHROOT_IS_APART=yes
  exec unshare --mount --pid --fork --kill-child --mount-proc "$PWD/deploy/chroot.sh" "$@"
fi

need_swift
install_packages "${toolchain_packages[@]}" curl debootstrap jose jq
umask 022
top="$PWD/.build/chroot"
debian="$top/debian"
mkdir -p "$top"
exec 9>"$top/lock"
flock --nonblock 9 || {
  echo "another deploy/chroot.sh is at work here." >&2
  exit 69
}

# debian_base: a small Debian 12 in $debian, made once.
debian_base() {
  [[ ! -e "$debian.made" ]] || return 0
  rm -rf "$debian"
  debootstrap --variant=minbase bookworm "$debian" >"$top/debootstrap.log"
  rm -rf "$debian"/var/cache/apt/archives/*.deb "$debian"/var/lib/apt/lists/*
  touch "$debian.made"
}

# fresh PLACE FROM: a copy of a system that programs can run in.
fresh() {
  rm -rf --one-file-system "$1"
  cp -a --one-file-system --reflink=auto "$2" "$1"
  mount --bind "$1" "$1"
  mount -t proc proc "$1/proc"
  mount --rbind /dev "$1/dev"
  for file in /etc/resolv.conf /etc/hosts; do
    touch "$1$file"
    mount --bind "$file" "$1$file"
  done
}

# inside PLACE FOLDER COMMAND…: runs something in a system, with nothing of this one's environment but what reaches the net.
inside() {
  local place="$1" where="$2" kept=() name
  shift 2
  for name in http_proxy https_proxy no_proxy; do [[ -z "${!name-}" ]] || kept+=("$name=${!name}"); done
  # shellcheck disable=SC2016 # for the shell inside
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "${kept[@]}" \
    chroot "$place" /bin/sh -c 'cd "$1"; shift; exec "$@"' inside "$where" "$@"
}

# megabytes FOLDER: what is in it, without what is mounted there.
megabytes() { du --one-file-system --summarize --bytes "$1" | awk '{ printf("%.1f", $1 / 1e6) }'; }

# check SENTENCE COMMAND…: says what holds, and ends the script where it does not.
check() {
  if "${@:2}"; then echo "holds: $1"; else
    echo "does not hold: $1" >&2
    exit 1
  fi
}

debian_base
# shellcheck source=deploy/programs.sh
source deploy/programs.sh
# shellcheck source=deploy/chroot/image.sh
# shellcheck source=deploy/chroot/package.sh
source "deploy/chroot/$mode.sh"
