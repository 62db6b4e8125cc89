#!/bin/bash
# Runs parlor-page on URL without the rest of Parlor and prints what the page and the bridge say: Tests/Page/try-page.sh URL [--seconds N] [--picture FILE]
set -euo pipefail
cd "$(dirname "$0")/../.."
Scripts/page-script.sh
swift build --product parlor-page-extension
swift build --product parlor-page-trust
swift build --product parlor-page
exec python3 Tests/Page/try_page.py "$@"
