#!/bin/bash
# Writes the manual page and the completion of `parlor`, which the program makes of its own description of the verbs: after a change of them.
set -euo pipefail
cd "$(dirname "$0")/.."
swift build --product parlor >&2
mkdir -p Config/man Config/completion
.build/debug/parlor manual >Config/man/parlor.1
.build/debug/parlor manual --form bash >Config/completion/parlor.bash
