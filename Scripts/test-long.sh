#!/bin/bash
# The long counts, written to Tests/RESULTS.md: each parser fuzzed for ten minutes and its coverage, calls with real peers repeated,
# echo in rooms of many kinds, a page that makes and closes 1,000 pairs of connections, 200 changes of monitors in a row, and a camera and
# a sound card that are unplugged 100 times, and a box whose power goes in 500 recorded and 20 other moments. Takes hours. PARLOR_FUZZ_SECONDS changes the ten minutes,
# PARLOR_REPEAT the number of repetitions, PARLOR_CHANGES the 200, PARLOR_UNPLUGGED the 100, PARLOR_KILLS the 20.
set -uo pipefail
cd "$(dirname "$0")/.."
Scripts/setup.sh test machine image || exit
seconds=${PARLOR_FUZZ_SECONDS:-600} repeat=${PARLOR_REPEAT:-10}
mkdir -p .build
swift build -c release || exit

failures=0
run() {
  local log=.build/long-$1.log
  shift
  "$@" 2>&1 | tee "$log" || failures=$((failures + 1))
}
run fuzz Scripts/fuzz.sh --seconds "$seconds"
run coverage Scripts/fuzz.sh --coverage
run echo .build/venv/bin/python Tests/Echo/run.py --long
run cycles env PARLOR_CYCLES=1000 .build/venv/bin/python Tests/PageCalls/run.py --only cycles --seconds 3600
run timing .build/venv/bin/python Tests/Machine/run.py --only "in time"
run changes .build/venv/bin/python Tests/Machine/run.py --only "changes in a row" --changes "${PARLOR_CHANGES:-200}"
run unplugged .build/venv/bin/python Tests/Machine/run.py --only "unplugged and plugged in ${PARLOR_UNPLUGGED:-100} times" --cycles "${PARLOR_UNPLUGGED:-100}"
run image .build/venv/bin/python Tests/Image/run.py --kills "${PARLOR_KILLS:-20}"
run interop .build/venv/bin/python Tests/Interop/run.py --repeat "$repeat"

{
  echo "# Results of the long runs"
  echo
  echo "Written by \`make test-long\` on $(date -u +%F), at commit $(git rev-parse --short HEAD), $(nproc) processors, $(swift --version 2>/dev/null | grep -oE 'Swift version [0-9.]+')."
  echo
  echo "## Fuzzing: ${seconds} s for each parser"
  echo
  grep -E '^[✔✘]|^fuzz:' .build/long-fuzz.log | sed 's/^/- /'
  echo
  echo "## Lines of the parsers that the corpora reach"
  echo
  grep -E '^[✔✘]|^fuzz:' .build/long-coverage.log | sed 's/^/- /'
  echo
  echo "## Calls with real peers, each ${repeat} times"
  echo
  grep -E '^✘|^interop:' .build/long-interop.log | sed 's/^/- /'
  echo
  echo "## Echo left over, and the near voice while both sides talk: in brackets AEC3 on the same sounds"
  echo
  grep -E '^pass|^FAIL|^echo:|^      ' .build/long-echo.log | sed 's/^ */- /'
  echo
  echo "## Monitors, modes, rotations and blanking, changed at random"
  echo
  grep -hE '^pass|^FAIL|^machine:|^      ' .build/long-timing.log .build/long-changes.log | sed 's/^ */- /'
  echo
  echo "## Cameras and sound cards, unplugged and plugged in"
  echo
  grep -E '^pass|^FAIL|^machine:|^      ' .build/long-unplugged.log | sed 's/^ */- /'
  echo
  echo "## The image"
  echo
  grep -E '^pass|^FAIL|^image:|^      ' .build/long-image.log | sed 's/^ */- /'
  echo
  echo "## A page makes and closes 1,000 pairs of connections with data channels"
  echo
  grep -E '^FAIL|^      |^pages:' .build/long-cycles.log | sed 's/^ */- /'
} >Tests/RESULTS.md
echo "test-long: results in Tests/RESULTS.md"
[[ $failures -eq 0 ]]
