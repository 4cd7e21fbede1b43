#!/usr/bin/env bash
# Makes the secrets of a service on PostgreSQL, each in a file of its own, as BRAMLEY_…_FILE takes them.
# usage: secrets.sh FOLDER [HOST]
#
# Files that are there are left alone: who loses the master key loses all sessions. The password of the database goes
# into `database-password` and `database-url`, which names HOST (`postgres`).
set -euo pipefail

if [[ $# -lt 1 || $# -gt 2 || "$1" == -* ]]; then
  echo "usage: secrets.sh FOLDER [HOST]" >&2
  exit 64
fi
folder="$1"
host="${2-postgres}"

# The folder keeps others out. Its files do not: a container reads them as somebody whom this machine does not know.
install -d -m 700 "$folder"

# keep NAME TEXT: a new file, whole or not at all.
keep() {
  [[ ! -e "$folder/$1" ]] || return 0
  printf '%s\n' "$2" >"$folder/.$1"
  chmod 644 "$folder/.$1"
  mv -n "$folder/.$1" "$folder/$1"
  echo "made $folder/$1"
}

keep master-key "$(openssl rand -base64 32)"
keep admin-token "operator=$(openssl rand -hex 24)"
keep service-keys "$(openssl rand -hex 24)"
keep database-password "$(openssl rand -hex 24)"
keep database-url "postgres://bramley:$(<"$folder/database-password")@$host/bramley"
