#!/usr/bin/env bash
# Runs every command of the README as it is written, in one shell from the top of the project, and compiles its Swift.
# The demonstration and the tests are left out: the one would serve for ever, the other would call itself.
set -euo pipefail
cd "$(dirname "$0")/.."

folder="$(mktemp -d)"
finish() {
  # Only what the README's own commands started.
  if [[ -f "$folder/jobs" ]]; then
    while read -r pid; do kill "$pid" 2>/dev/null || true; done <"$folder/jobs"
  fi
  rm -rf "$folder" /tmp/bramley-readme
}
trap finish EXIT

# blocks LANGUAGE: the fenced blocks of one language, in order.
blocks() {
  sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" README.md | grep -v '^```'
}

{
  echo 'set -euo pipefail'
  echo "trap 'jobs -p >\"$folder/jobs\"' EXIT"
  blocks sh | grep -v -x -e 'deploy/demo.sh' -e 'deploy/test.sh'
} >"$folder/commands.sh"
rm -rf /tmp/bramley-readme
bash "$folder/commands.sh"

# What has a screen of Apple's, and a manifest, can only be parsed here; all else is compiled.
awk -v folder="$folder" '
  /^```swift$/ { text = ""; inside = 1; next }
  inside && /^```$/ { inside = 0; print text > (folder (text ~ /import (PackageDescription|SwiftUI|UIKit)/ ? "/screen" ++screens ".swift" : "/sample.swift")); next }
  inside { text = text $0 "\n" }
' README.md
swift build --target BramleyVerifier
swift build --target BramleyClient
modules=(-I "$(swift build --show-bin-path)/Modules")
for library in Sources/C*/module.modulemap; do modules+=(-I "${library%/*}"); done
swiftc -typecheck -swift-version 6 "${modules[@]}" "$folder/sample.swift"
for screen in "$folder"/screen*.swift; do swiftc -parse -parse-as-library "$screen"; done
