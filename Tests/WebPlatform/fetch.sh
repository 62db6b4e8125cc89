#!/bin/bash
# Fetches the web-platform-tests that Debian's firefox-esr source package carries, into .build/web-platform-tests, once.
# Only the folders needed are unpacked. The package's version is left in .build/web-platform-tests/VERSION.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=.build/web-platform-tests
[[ -e $target/VERSION ]] && exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{state/lists/partial,cache/archives/partial,etc}

# A package list of our own, so that the machine's stays as it is.
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
mirror=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -1)
[[ -n $mirror ]] || mirror=$(awk '$1 == "deb" { print $2; exit }' /etc/apt/sources.list 2>/dev/null || true)
[[ -n $mirror ]] || { echo "wpt: no Debian mirror is configured for apt" >&2; exit 69; }
echo "deb-src [signed-by=$keyring] $mirror bookworm main" >"$work/etc/sources.list"
apt=(apt-get -q=2 -o "Dir::Etc::sourcelist=$work/etc/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State=$work/state"
  -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root)
"${apt[@]}" update >/dev/null

version=$(apt-cache -o "Dir::Etc::sourcelist=$work/etc/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State=$work/state" \
  -o "Dir::Cache=$work/cache" showsrc firefox-esr | sed -n 's/^Version: //p' | sort -V | tail -1)
echo "wpt: fetching the source of firefox-esr $version (about 680 MB, once)"
(cd "$work" && "${apt[@]}" source --download-only "firefox-esr=$version" >/dev/null)

archive=$(ls "$work"/firefox-esr_*.orig.tar.* | head -1)
root=$(basename "$archive" | sed 's/^firefox-esr_\(.*\)\.orig\.tar.*/\1/')
echo "wpt: unpacking"
mkdir -p "$work/tree"
tar -xf "$archive" -C "$work/tree" --wildcards --no-wildcards-match-slash --strip-components=1 \
  '*/testing/web-platform/tests/webrtc*' '*/testing/web-platform/tests/mediacapture-streams' '*/testing/web-platform/tests/resources' \
  '*/testing/web-platform/tests/common' '*/testing/web-platform/tests/tools' '*/testing/web-platform/tests/media' \
  '*/testing/web-platform/tests/interfaces' '*/testing/web-platform/tests/permissions-policy' '*/testing/web-platform/tests/wpt*'
rm -rf "$target"
mkdir -p "$(dirname "$target")"
mv "$work/tree/testing/web-platform/tests" "$target"
echo "$version" >"$target/VERSION"
echo "wpt: $(find "$target" -type f | wc -l) files of $root"
