#!/bin/bash
# Formatting of all Swift sources, as .swift-format says, and what they import. `Scripts/lint.sh --fix` rewrites what can be rewritten.
set -euo pipefail
cd "$(dirname "$0")/.."
Scripts/setup.sh build
if [[ ${1:-} == --fix ]]; then
  exec swift format --in-place --recursive --parallel Package.swift Sources Tests
fi
swift format lint --strict --recursive --parallel Package.swift Sources Tests
# Foundation brings forty megabytes of tables for languages that no program here asks for, into every process that starts.
if grep -rlx 'import Foundation' Sources --include='*.swift' --exclude-dir=parlor-bench; then
  echo "lint: these import Foundation; FoundationEssentials is enough" >&2
  exit 1
fi
