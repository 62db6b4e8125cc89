#!/bin/bash
# Documentation of the library products, from the comments in the sources, as web pages in .build/docs/MODULE.
set -euo pipefail
cd "$(dirname "$0")/.."
Scripts/setup.sh build
modules=(Base Bytes STUN TURN ICE MDNS DTLS SRTP RTP SCTP SDP WebRTC)
graphs=.build/symbol-graphs
rm -rf "$graphs" .build/docs
mkdir -p .build/docs
swift package dump-symbol-graph --minimum-access-level public --skip-synthesized-members >/dev/null
produced=$(find .build -type d -name symbolgraph | head -n 1)
for module in "${modules[@]}"; do
  mkdir -p "$graphs/$module"
  cp "$produced/$module".symbols.json "$graphs/$module/"
  docc convert --additional-symbol-graph-dir "$graphs/$module" --fallback-display-name "$module" --fallback-bundle-identifier "parlor.$module" \
    --output-dir ".build/docs/$module" >/dev/null
  echo "docs: .build/docs/$module"
done
