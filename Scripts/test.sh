#!/bin/bash
# Everything that must pass: formatting, unit tests, calls with real peers, real kernel drivers, the image, a short run of each fuzzer.
# The last line is "N passed, N failed"; the exit code is 0 when none failed. `--quick` leaves out the peers and the fuzzers.
set -uo pipefail
cd "$(dirname "$0")/.."
quick=no
[[ ${1:-} != --quick ]] || quick=yes
declare -a groups=(unit)
[[ $quick == yes ]] || groups=(test machine image)
Scripts/setup.sh "${groups[@]}" || exit

passed=0 failed=0

headline() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }

count() {  # passed, failed
  passed=$((passed + ${1:-0}))
  failed=$((failed + ${2:-1}))
}

check() {  # a step that is one test
  local name=$1
  shift
  if "$@"; then count 1 0; else echo "✘ $name"; count 0 1; fi
}

counted() {  # a step that ends with "NAME: N passed, N failed"
  local name=$1 log=.build/$1.log line
  shift
  "$@" 2>&1 | tee "$log"
  line=$(grep -E "^$name: [0-9]+ passed, [0-9]+ failed$" "$log" | tail -n 1)
  if [[ $line =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
    count "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
  else
    echo "✘ $name did not end"
    count 0 1
  fi
}

unit_tests() {  # options of swift test
  local report=.build/tests-swift-testing.xml status=0
  rm -f "$report"
  # "Started" lines say nothing that the line of the result does not say.
  timeout 600 swift test --skip-build "$@" --xunit-output .build/tests.xml 2>&1 </dev/null | grep -vE '^◇|^\[[0-9]+/[0-9]+\]| started\.$|XCTest|prohibited flag' || true
  status=${PIPESTATUS[0]}
  # A failed test may have several failures: tests are counted.
  local tests failures
  read -r tests failures < <(awk 'BEGIN { RS = "<testcase" } NR > 1 { n++; if (/<failure/) f++ } END { print n + 0, f + 0 }' "$report" 2>/dev/null)
  if [[ ${tests:-0} -eq 0 ]]; then
    echo "✘ the unit tests ended with $status before they could report"
    count 0 1
  else
    [[ $status -eq 0 || $failures -gt 0 ]] || failures=1
    count $((tests - failures)) "$failures"
  fi
}

headline "formatting"
check "formatting (Scripts/lint.sh --fix mends most of it)" Scripts/lint.sh

# The unit tests run unoptimized: they are built in a third of the time and run in seconds all the same.
headline "build"
if ! timeout 1800 swift build --build-tests </dev/null || { [[ $quick == no ]] && ! timeout 1800 swift build -c release </dev/null; }; then
  echo "✘ does not build"
  echo "$passed passed, $((failed + 1)) failed"
  exit 1
fi

# Tests that run or watch whole programs, or hours in virtual time, hold on to their threads: they come after the others, one by one.
programs='StockClientTests|PageEndToEndTests|TenHourTests|parlorTests|ConfigurationManualTests|CodingCameraCallTests'
headline "unit tests"
unit_tests --parallel --skip "$programs"
headline "tests with programs on the screen, and of hours"
unit_tests --no-parallel --filter "$programs"

if [[ $quick == no ]]; then
  headline "the audio threads"
  check "the audio threads neither allocate nor wait for others" .build/release/sound-trial
  headline "the example in README.md"
  check "the example in README.md" Scripts/readme-example.sh
  headline "the page's JavaScript"
  counted page-script Tests/Page/JavaScript/run.py
  headline "the page host"
  counted page-host python3 Tests/Page/run.py
  headline "calls with real peers"
  counted interop .build/venv/bin/python Tests/Interop/run.py
  headline "echo"
  counted echo .build/venv/bin/python Tests/Echo/run.py
  headline "call pages"
  counted pages .build/venv/bin/python Tests/PageCalls/run.py
  headline "tools that drive a fleet"
  counted fleet .build/venv/bin/python Tests/Fleet/run.py
  headline "in a virtual machine"
  counted machine .build/venv/bin/python Tests/Machine/run.py --short
  headline "the image"
  counted image .build/venv/bin/python Tests/Image/run.py --short
  headline "fuzzing, shortly"
  counted fuzz Scripts/fuzz.sh --runs 20000
fi

printf '\n%d passed, %d failed\n' "$passed" "$failed"
[[ $failed -eq 0 && $passed -gt 0 ]]
