#!/bin/bash
# Writes down all keys of parlor.toml, as the program describes them: Config/reference.md, Config/parlor.schema.json, and the table in README.md.
set -euo pipefail
cd "$(dirname "$0")/.."
Scripts/setup.sh build
swift build --quiet --product parlor 2>&1 | grep -v 'prohibited flag' || true
parlor=$(swift build --show-bin-path 2>/dev/null)/parlor
"$parlor" check --describe reference >Config/reference.md
"$parlor" check --describe schema >Config/parlor.schema.json
"$parlor" check --describe table >.build/keys.md
awk '
  /^<!-- keys -->$/ { print; print ""; while ((getline line < ".build/keys.md") > 0) print line; print ""; skipping = 1; next }
  /^<!-- end of keys -->$/ { skipping = 0 }
  !skipping
' README.md >.build/README.md
cat .build/README.md >README.md
