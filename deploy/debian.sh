#!/usr/bin/env bash
# Builds a package for this release of Debian and this architecture.
# usage: deploy/debian.sh [FOLDER]
#
# It goes to FOLDER (.build/debian). The maintainer is whoever DEBFULLNAME and DEBEMAIL name; DEB_REVISION (1) is what
# follows the program's own version.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=deploy/packages.sh
source deploy/packages.sh

if [[ $# -gt 1 || "${1-}" == -* ]]; then
  echo "usage: deploy/debian.sh [FOLDER]" >&2
  exit 64
fi
folder="${1-.build/debian}"

need_swift
install_packages "${toolchain_packages[@]}" "${library_packages[@]}" dpkg-dev
build=(swift build -c release --static-swift-stdlib --product bramley)
"${build[@]}" >&2
program="$("${build[@]}" --show-bin-path)/bramley"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
tree="$work/bramley"
documents="$tree/usr/share/doc/bramley"
architecture="$(dpkg --print-architecture)"
version="$("$program" version | cut -d ' ' -f 2)-${DEB_REVISION-1}"
maintainer="${DEBFULLNAME-Whoever built it} <${DEBEMAIL-packager@localhost}>"
# The same sources make the same package.
SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH-$(git log -1 --format=%ct 2>/dev/null || date +%s)}"
export SOURCE_DATE_EPOCH

# put MODE FILE PLACE: a file of the package.
put() { install -D -m "$1" "$2" "$tree/$3"; }

umask 022
install -D -m 755 --strip "$program" "$tree/usr/bin/bramley"
put 644 deploy/systemd/bramley.service lib/systemd/system/bramley.service
put 644 deploy/systemd/bramley.sysusers usr/lib/sysusers.d/bramley.conf
put 644 deploy/debian/bramley.yaml etc/bramley/bramley.yaml
put 644 deploy/debian/copyright usr/share/doc/bramley/copyright
put 644 README.md usr/share/doc/bramley/README.md
put 644 openapi.yaml usr/share/doc/bramley/openapi.yaml
put 644 deploy/systemd/credentials.conf usr/share/doc/bramley/examples/credentials.conf
put 755 deploy/secrets.sh usr/share/doc/bramley/examples/secrets.sh
for file in deploy/{prometheus,grafana,proxy}/*; do
  put 644 "$file" "usr/share/doc/bramley/examples/${file#deploy/}"
done
put 644 deploy/debian/lintian-overrides usr/share/lintian/overrides/bramley
{
  echo "bramley ($version) stable; urgency=medium"
  printf '\n  * Built from the sources of this version.\n\n'
  echo " -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")"
} | gzip -9n >"$documents/changelog.Debian.gz"

# What the program is linked with, as packages of this release.
mkdir "$work/debian"
printf 'Source: bramley\n\nPackage: bramley\nArchitecture: any\n' >"$work/debian/control"
depends="$(cd "$work" && dpkg-shlibdeps -O "$tree/usr/bin/bramley" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')"

install -d "$tree/DEBIAN"
install -m 755 deploy/debian/postinst deploy/debian/prerm deploy/debian/postrm "$tree/DEBIAN/"
echo /etc/bramley/bramley.yaml >"$tree/DEBIAN/conffiles"
(cd "$tree" && find usr lib etc -type f ! -path etc/bramley/bramley.yaml -exec md5sum {} + | sort -k 2 >DEBIAN/md5sums)
cat >"$tree/DEBIAN/control" <<CONTROL
Package: bramley
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -k -s --exclude=DEBIAN "$tree" | cut -f 1)
Depends: $depends, ca-certificates, systemd | systemd-standalone-sysusers | systemd-sysusers
Suggests: caddy | haproxy | nginx, postgresql, prometheus
Section: net
Priority: optional
Description: self-hosted auth bridge for Sign in with Apple
 An app posts the ID token of Apple, the raw nonce and the name of the person;
 Bramley verifies them, keeps the account, and answers with a session of its
 own: a JWT that any service can verify, and a refresh token.
CONTROL

mkdir -p "$folder"
dpkg-deb --root-owner-group --build "$tree" "$folder" >&2
echo "$folder/bramley_${version}_$architecture.deb"
