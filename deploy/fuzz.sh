#!/usr/bin/env bash
# Feeds the readers of what strangers send with inputs that libFuzzer chooses, under the address sanitiser.
# usage: deploy/fuzz.sh [SECONDS], 30 when nothing is said
set -euo pipefail
cd "$(dirname "$0")/.."
seconds="${1:-30}"

build=(swift build -c release --scratch-path .build/fuzz -Xswiftc '-sanitize=fuzzer,address' -Xswiftc -parse-as-library)
FUZZ=1 "${build[@]}" --target Fuzz
objects="$(FUZZ=1 "${build[@]}" --show-bin-path)"
mapfile -t files < <(find "$objects" -name '*.o' -path '*.build/*' | sort)
swiftc -sanitize=fuzzer,address "${files[@]}" -ljansson -lssl -lcrypto -o .build/fuzz/fuzz

found="$(mktemp -d)"
trap 'rm -rf "$found"' EXIT
# jansson and OpenSSL keep a little for the life of the process.
ASAN_OPTIONS=detect_leaks=0 .build/fuzz/fuzz -seed=1 -max_total_time="$seconds" -max_len=4096 -timeout=5 \
  -rss_limit_mb=1024 -artifact_prefix="$found/" -print_final_stats=1 "$found" Tests/Fuzz/corpus
