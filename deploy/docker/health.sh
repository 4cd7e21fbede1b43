#!/bin/bash
# Whether the service of this container is live, by what every Debian has: no program for HTTP is in the image for this
# alone. Where the listener speaks TLS itself, a connection that it takes has to do.
set -euo pipefail

exec 3<>"/dev/tcp/127.0.0.1/${BRAMLEY_LISTEN##*:}"
[[ -z "${BRAMLEY_TLS_CERT-}" ]] || exit 0
printf 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n' >&3
read -r -t 4 _ status _ <&3
[[ "$status" == 200 ]]
