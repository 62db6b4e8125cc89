#!/bin/bash
# Fuzzes the parsers of network input, from the corpora in Tests/Fuzz/Corpus. What was found is kept in .build-fuzz/found.
# Each fuzzer prints one line; the last line says "fuzz: N passed, N failed".
#
#   Scripts/fuzz.sh --seconds 60 [ROOM…]     each parser for so long; a room with three parsers runs three times as long
#   Scripts/fuzz.sh --runs 20000 [ROOM…]     so many inputs for each room, always the same; 30 s at most
#   Scripts/fuzz.sh --coverage [ROOM…]       which share of the parsers' lines the corpora reach, in place of fuzzing
set -euo pipefail
cd "$(dirname "$0")/.."
Scripts/setup.sh build

seconds='' runs='' coverage=''
declare -a rooms=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --seconds) seconds=$2; shift ;;
    --runs) runs=$2; shift ;;
    --coverage) coverage=yes ;;
    -*) echo "usage: Scripts/fuzz.sh --seconds N | --runs N | --coverage [ROOM…]" >&2; exit 64 ;;
    *) rooms+=("$1") ;;
  esac
  shift
done
if [[ ${#rooms[@]} -eq 0 ]]; then
  for entry in Tests/Fuzz/*/Fuzz.swift; do
    [[ ! -f $entry ]] || rooms+=("$(basename "$(dirname "$entry")")")
  done
fi
[[ ${#rooms[@]} -gt 0 ]] || { echo "fuzz: 0 passed, 0 failed"; exit 0; }

# A crash is what is looked for: no backtrace of Swift's own, libFuzzer writes the input that led to it.
export PARLOR_FUZZ=1 SWIFT_BACKTRACE=enable=no
build=.build-fuzz
declare -a flags=()
if [[ -n $coverage ]]; then
  build=.build-coverage
  flags=(-Xswiftc -profile-generate -Xswiftc -profile-coverage-mapping)
fi
log=$build/build.log
mkdir -p "$build"
for room in "${rooms[@]}"; do
  if ! swift build -c release --scratch-path "$build" --sanitize fuzzer "${flags[@]}" --product "Fuzz$room" >"$log" 2>&1; then
    tail -n 40 "$log"
    echo "✘ fuzzer of $room does not build"
    echo "fuzz: 0 passed, ${#rooms[@]} failed"
    exit 1
  fi
done

# How many parsers a room's fuzzer chooses from, and the files they are in: Tests/Fuzz/Parsers.tsv.
parsers() { awk -F'\t' -v room="$1" '$1 == room { print $2; found = 1 } END { if (!found) print 1 }' Tests/Fuzz/Parsers.tsv; }

fuzz() {
  local room=$1 corpus=$build/corpus/$1 found=$build/found/$1 log=$build/$1.log status=0
  mkdir -p "$corpus" "$found"
  if [[ -n $runs ]]; then rm -rf "$corpus" && mkdir -p "$corpus"; fi
  [[ ! -d Tests/Fuzz/Corpus/$room ]] || cp -r Tests/Fuzz/Corpus/"$room"/. "$corpus"
  local -a limits=(-timeout=10 -rss_limit_mb=2048 -max_len=4096 -artifact_prefix="$found/" -print_final_stats=1)
  if [[ -n $runs ]]; then
    limits+=(-runs="$runs" -seed=1 -max_total_time=30)  # a slow fuzzer gets through fewer; that is no failure
  else
    limits+=(-max_total_time=$((seconds * $(parsers "$room"))))
  fi
  "$build/release/Fuzz$room" "${limits[@]}" "$corpus" >"$log" 2>&1 </dev/null || status=$?
  local count
  count=$(awk '/stat::number_of_executed_units/ { print $2 }' "$log")
  if [[ $status -eq 0 ]]; then
    echo "✔ $room: ${count:-?} inputs"
  else
    echo "✘ $room: see $log and $found"
    grep -aE 'ERROR|Fatal|SUMMARY|Test unit written' "$log" | head -5 | sed 's/^/    /'
    return 1
  fi
}

measure() {
  local room=$1 profile=$build/$1.profraw
  local -a corpora=()
  [[ ! -d Tests/Fuzz/Corpus/$room ]] || corpora+=("Tests/Fuzz/Corpus/$room")
  [[ ! -d .build-fuzz/corpus/$room ]] || corpora+=(".build-fuzz/corpus/$room")
  LLVM_PROFILE_FILE=$profile "$build/release/Fuzz$room" -runs=0 "${corpora[@]}" >"$build/$room.log" 2>&1 </dev/null || return 1
  local tools
  tools=$(dirname "$(readlink -f "$(command -v swift)")")
  "$tools/llvm-profdata" merge -o "$build/$room.profdata" "$profile"
  "$tools/llvm-cov" export "$build/release/Fuzz$room" -instr-profile "$build/$room.profdata" >"$build/$room.json" 2>/dev/null
  /usr/bin/python3 Scripts/fuzz_coverage.py "$room" "$build/$room.json"
}

# As many at a time as there are processors.
results=$build/results
rm -rf "$results"
mkdir -p "$results"
for room in "${rooms[@]}"; do
  while [[ $(jobs -rp | wc -l) -ge $(nproc) ]]; do wait -n || true; done
  { if [[ -n $coverage ]]; then measure "$room"; else fuzz "$room"; fi && touch "$results/$room"; } &
done
wait
passed=$(find "$results" -type f | wc -l)
echo "fuzz: $passed passed, $((${#rooms[@]} - passed)) failed"
[[ $passed -eq ${#rooms[@]} ]]
