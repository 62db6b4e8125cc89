"""Prints which share of a room's parser lines its corpora reach; fails below 90 %. Called by fuzz.sh with llvm-cov's export.

The files that hold a room's parsers stand in Tests/Fuzz/Parsers.tsv, relative to Sources; `*` stands for any part of a file's name, a
slash at the end for everything in a folder.
"""

import json
import re
import sys

ROOM, EXPORT = sys.argv[1:]
WANTED = 0.9


def row():
    with open("Tests/Fuzz/Parsers.tsv") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if fields[0] == ROOM:
                return fields
    sys.exit(f"✘ {ROOM} does not stand in Tests/Fuzz/Parsers.tsv")


def main():
    files = row()[2]
    patterns = [re.compile("/Sources/" + re.escape(part).replace(r"\*", "[^/]*") + ("" if part.endswith("/") else "$")) for part in files.split()]
    reached, counted, missing = set(), set(), {}
    with open(EXPORT) as file:
        functions = json.load(file)["data"][0]["functions"]
    for function in functions:
        name = function["filenames"][0]
        if not any(pattern.search(name) for pattern in patterns):
            continue
        # The smallest region that holds a line decides; regions come from the outside in.
        lines = {}
        for start, _, end, _, count, file_id, _, kind in function["regions"]:
            if kind == 0 and file_id == 0:
                lines.update((number, count) for number in range(start, end + 1))
        for number, count in lines.items():
            counted.add((name, number))
            if count:
                reached.add((name, number))
    for name, number in sorted(counted - reached):
        missing.setdefault(name, []).append(number)
    if not counted:
        sys.exit(f"✘ {ROOM}: no line of {files} is in the fuzzer")
    share = len(reached) / len(counted)
    print(f"{'✔' if share >= WANTED else '✘'} {ROOM}: {share:.1%} of {len(counted)} lines")
    for name, numbers in missing.items():
        print(f"    not reached in {name.split('/Sources/')[-1]}: {' '.join(map(str, numbers))}")
    return share < WANTED


sys.exit(main())
