#!/usr/bin/env bash
# Measures what Bramley costs on this machine, beside what its cryptography and an empty request cost in the same
# minute, and prints the README's table as Markdown. With --quick everything is short, which shows that it runs and
# little more; with --large a million accounts are measured too.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=deploy/packages.sh
source deploy/packages.sh

seconds=6 warm_up=1500ms quick=false large=false mint=60000
for argument in "$@"; do
  case "$argument" in
    --quick) quick=true seconds=1 warm_up=300ms mint=3000 ;;
    --large) large=true ;;
    *)
      echo "usage: deploy/bench.sh [--quick] [--large]" >&2
      exit 64
      ;;
  esac
done

need_swift
install_packages "${toolchain_packages[@]}" "${library_packages[@]}" jq nginx-light
echo "Building …" >&2
build=(swift build -c release --static-swift-stdlib)
"${build[@]}" --product bramley >&2
"${build[@]}" --product bramley-bench >&2
programs="$("${build[@]}" --show-bin-path)"
bramley="$programs/bramley"

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

# bench NAME ARGUMENTS…: one run; its report goes to $folder/NAME.json.
bench() {
  local name="$1" workload="$2"
  shift 2
  echo "measuring: $name" >&2
  "$programs/bramley-bench" "$workload" --spawn "$bramley" --duration "${seconds}s" --warm-up "$warm_up" \
    --mint "$mint" --json "$folder/$name.json" "$@" >"$folder/$name.txt" || {
    cat "$folder/$name.txt" >&2
    exit 1
  }
}

# of NAME EXPRESSION: something of a report.
of() { jq -r "$2" "$folder/$1.json"; }

# number VALUE DECIMALS
number() { LC_ALL=C printf "%.$2f" "$1"; }

# divided A B DECIMALS
divided() { LC_ALL=C awk -v a="$1" -v b="$2" -v d="$3" 'BEGIN { printf("%.*f", d, (b > 0) ? a / b : 0) }'; }

# commit NAME: what a request's rows cost in the group commit alone, of the ceiling; nothing for work that writes none.
commit() {
  jq -r --arg name "group commit of $1" '.figures[] | select(.name == $name) | .microseconds' "$folder/ceiling.json"
}

# row WORK NAME BOUND [ROWS]: a line of the table about a workload's cost; ROWS names the commit in its ceiling.
works=() costs=() floors=()
row() {
  local cost floor='–' ratio='–' rows='–' rest='–'
  cost="$(of "$2" .server.microsecondsPerRequest)"
  if [[ "$(of "$2" '.ratio // empty')" != "" ]]; then
    floor="$(number "$(of "$2" '[.floor[].microseconds] | add')" 1)"
    ratio="$(number "$(of "$2" .ratio)" 2)"
    works+=("\"$1\"") costs+=("$(number "$cost" 0)") floors+=("$(number "$floor" 0)")
    if [[ -n "${4:-}" ]]; then
      rows="$(number "$(commit "$4")" 1)"
      rest="$(divided "$cost" "$(LC_ALL=C awk -v a="$floor" -v b="$rows" 'BEGIN { print a + b }')" 2)"
    fi
  fi
  echo "| $1 | $(number "$(of "$2" .rate)" 0) | $(number "$cost" 1) | $floor | $ratio | $3 | $rows | $rest |"
}

# joined WORDS…: with commas between.
joined() {
  local IFS=,
  echo "$*"
}

ceiling=(ceiling --json)
if $quick; then ceiling+=(--quick); fi
"$programs/bramley-bench" "${ceiling[@]}" >"$folder/ceiling.json"
bench signin signin
bench refresh refresh
bench verify verify
bench fresh verify --fresh
bench introspect introspect
bench jwks jwks
# The comparison of thread counts is at one rate, which one thread holds too.
half="$(divided "$(of signin .rate)" 2 0)"
bench one signin --rate "$half" --env BRAMLEY_THREADS=1 --no-ceiling
bench two signin --rate "$half" --env BRAMLEY_THREADS=2 --no-ceiling
bench many signin --connections 1000 --no-ceiling
if $large; then
  bench million signin --accounts 1000000 --persons 1000000 --tokens "$folder/tokens" --no-ceiling
fi
"$programs/bramley-bench" start --spawn "$bramley" --json >"$folder/start.json"
cp "$bramley" "$folder/stripped"
strip "$folder/stripped"

processor="$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
database="$(dpkg-query -W -f='${Version}' libsqlite3-0 2>/dev/null || echo unknown)"
openssl="$(dpkg-query -W -f='${Version}' libssl3 2>/dev/null || echo unknown)"
[[ $quick == false ]] || echo "These runs lasted a second each: they show that everything runs, not how fast."
echo "Measured on ${processor:-an unknown processor}, $(nproc) cores, Linux $(uname -r)," \
  "$(swift --version 2>/dev/null | sed -n 's/.*\(Swift version [0-9.]*\).*/\1/p' | head -n 1)," \
  "OpenSSL $openssl, SQLite $database. The load came from the same machine."
echo
echo '| work | requests/s | CPU of each, µs | floor, µs | ratio | aim | its rows in SQLite alone, µs | by floor and rows |'
echo '|---|---|---|---|---|---|---|---|'
row 'sign-in' signin 1.5 sign-ins
row 'refresh' refresh 1.6 refreshes
row 'verify, token seen before' verify 1.5
row 'verify, new token' fresh 1.3
row 'introspection' introspect '–'
row 'key set' jwks 2.0
echo
echo '```mermaid'
echo 'xychart-beta'
echo '  title "CPU of each request in µs; the lower part of a bar is the floor"'
echo "  x-axis [$(joined "${works[@]}")]"
echo '  y-axis "µs"'
echo "  bar [$(joined "${costs[@]}")]"
echo "  bar [$(joined "${floors[@]}")]"
echo '```'
echo
echo '| measured | found | aim |'
echo '|---|---|---|'
echo "| CPU per sign-in, two listener threads by one, at $half/s |" \
  "$(divided "$(of two .server.microsecondsPerRequest)" "$(of one .server.microsecondsPerRequest)" 2) | 1.1 |"
echo "| p99 of a sign-in at half the maximum rate | $(divided "$(of two .response.p99)" 1000000 1) ms | 10 ms |"
echo "| memory with 1,000 connections under load | $(divided "$(of many .server.peakBytes)" 1000000 1) MB | 120 MB |"
echo "| memory when idle | $(divided "$(of start .idleBytes)" 1000000 1) MB | 40 MB |"
echo "| ready on a second start after | $(number "$(of start .secondStartMilliseconds)" 0) ms | 100 ms |"
if $large; then
  echo "| cost per sign-in with a million accounts by that with none |" \
    "$(divided "$(of million .server.microsecondsPerRequest)" "$(of signin .server.microsecondsPerRequest)" 2) | 1.25 |"
fi
echo "| the program, stripped | $(divided "$(stat -c %s "$folder/stripped")" 1000000 1) MB | 15 MB |"
echo
echo '| what the floors are made of | at once | CPU of each, µs | rate |'
echo '|---|---|---|---|'
jq -r '.figures[] | "| \(.name) | \(.callers) | \(.microseconds // 0 | . * 10 | round / 10) | \(.perSecond | round)/s |"' \
  "$folder/ceiling.json"
