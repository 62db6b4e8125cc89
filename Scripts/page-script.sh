#!/bin/bash
# Writes Sources/C/CPageScript/files.inc from Sources/Page/JavaScript/files.txt: what the page extension embeds, in that order. Run it after a change of
# the list; a test compares the two.
set -euo pipefail
cd "$(dirname "$0")/.."
list=Sources/C/CPageScript/files.inc
while read -r name; do
  [[ -z $name ]] || printf '#embed "../../Page/JavaScript/%s" suffix(, )\n' "$name"
done < Sources/Page/JavaScript/files.txt > "$list.new"
if cmp -s "$list.new" "$list"; then rm "$list.new"; else mv "$list.new" "$list"; fi
