# shellcheck shell=bash
# shellcheck disable=SC2034 # what is set here is for whoever sources this
# Sourced by scripts that run programs in the background: a temporary $folder, and everything that was started is
# ended when the script ends.

folder="$(mktemp -d)"
pids=()
finish() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap finish EXIT

# start NAME COMMAND…: runs a program in the background; its address goes to $address once it says it is ready.
start() {
  local log="$folder/$1.log"
  shift
  "$@" >"$log" 2>&1 &
  pids+=($!)
  for _ in $(seq 400); do
    address="$(sed -n 's/.*"event":"ready".*"listen":"\([^"]*\)".*/\1/p' "$log" | head -n 1)"
    [[ -z "$address" ]] || return 0
    if ! kill -0 "${pids[-1]}" 2>/dev/null; then break; fi
    sleep 0.05
  done
  cat "$log" >&2
  exit 69
}
