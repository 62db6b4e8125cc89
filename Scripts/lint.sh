#!/bin/bash
# Formatting of all Swift sources, as .swift-format says. `Scripts/lint.sh --fix` rewrites what can be rewritten.
set -euo pipefail
cd "$(dirname "$0")/.."
Scripts/setup.sh build
if [[ ${1:-} == --fix ]]; then
  exec swift format --in-place --recursive --parallel Package.swift Sources Tests
fi
swift format lint --strict --recursive --parallel Package.swift Sources Tests
