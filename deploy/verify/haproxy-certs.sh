#!/usr/bin/env bash
# Fetches Bramley's public keys for haproxy.cfg, and reloads HAProxy when they have changed.
# usage: haproxy-certs.sh URL FOLDER [RELOAD COMMAND…]
#
# Writes key-0.pem to key-7.pem, places.map (kid to place) and algorithms.map (kid to alg). When anything about the
# answer is odd nothing is changed: HAProxy goes on with the keys it has. Needs curl, jq and openssl.
set -euo pipefail

places=8

if [[ $# -lt 2 ]]; then
  echo "usage: haproxy-certs.sh URL FOLDER [RELOAD COMMAND…]" >&2
  exit 64
fi
url="${1%/}/v1/certs"
folder="$2"
shift 2

fail() {
  echo "haproxy-certs.sh: $1" >&2
  exit 1
}

mkdir -p "$folder"
# Beside the folder, so that files can be moved into it in one step each.
new="$(mktemp -d "${folder%/}.XXXXXX")"
trap 'rm -rf "$new"' EXIT

curl -sS --fail --max-time 20 --proto =https,http --max-filesize 65536 -o "$new/certs.json" "$url" ||
  fail "no answer from $url"
jq -e 'type == "object" and length > 0 and all(.[]; type == "string")' "$new/certs.json" >/dev/null ||
  fail "$url does not answer with certificates"
mapfile -t kids < <(jq -r 'keys[]' "$new/certs.json")
[[ ${#kids[@]} -le $places ]] || fail "more than $places keys; haproxy.cfg has no place for them"

: >"$new/places.map"
: >"$new/algorithms.map"
for index in "${!kids[@]}"; do
  kid="${kids[$index]}"
  [[ "$kid" =~ ^[A-Za-z0-9_-]{1,128}$ ]] || fail "a kid is not plain"
  jq -r --arg kid "$kid" '.[$kid]' "$new/certs.json" >"$new/certificate"
  # HAProxy 2.6 says "certificate" and reads a SubjectPublicKeyInfo.
  openssl x509 -in "$new/certificate" -noout -pubkey >"$new/key-$index.pem" || fail "key $kid is no certificate"
  case "$(openssl x509 -in "$new/certificate" -noout -text)" in
    *"Public Key Algorithm: id-ecPublicKey"*) algorithm=ES256 ;;
    *"Public Key Algorithm: rsaEncryption"*) algorithm=RS256 ;;
    *) fail "key $kid is of an unknown kind" ;;
  esac
  echo "$kid $index" >>"$new/places.map"
  echo "$kid $algorithm" >>"$new/algorithms.map"
done
# HAProxy wants every file that it is told of; no kid leads to these.
for ((index = ${#kids[@]}; index < places; index++)); do
  cp "$new/key-0.pem" "$new/key-$index.pem"
done
rm "$new/certs.json" "$new/certificate"

changed=false
for file in "$new"/*; do
  cmp -s "$file" "$folder/${file##*/}" || changed=true
done
$changed || exit 0
chmod 755 "$folder"
chmod 644 "$new"/*
mv -f "$new"/* "$folder/"
[[ $# -eq 0 ]] || "$@"
