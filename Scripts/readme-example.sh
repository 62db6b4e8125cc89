#!/bin/bash
# Builds the example in README.md as a package of its own beside this one, as a reader would, and runs it.
# The blocks marked `<!-- example: FILE -->` are its files; the pattern below is what it must print.
set -euo pipefail
cd "$(dirname "$0")/.."
Scripts/setup.sh build
work=.build/readme
mkdir -p "$work/example"
rm -rf "$work/example/Sources" "$work/example/Package.swift"
ln -sfn "$PWD" "$work/parlor"
awk -v work="$work/example" '
  /^<!-- example: .* -->$/ { file = work "/" $3; next }
  file && /^```swift$/ { folder = file; sub("/[^/]*$", "", folder); system("mkdir -p " folder); writing = 1; next }
  writing && /^```$/ { close(file); file = ""; writing = 0; next }
  writing { print > file }
' README.md
swift build --quiet --package-path "$work/example" 2>&1 | grep -v 'prohibited flag' || true
output=$("$work/example/.build/debug/example" </dev/null)
echo "$output"
[[ $output == "connected after "*" ms of virtual time" ]]
