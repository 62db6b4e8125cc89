#!/bin/bash
# Debian's part of the root file system: the packages of one flavour, unpacked and configured, as an archive in .build/image/cache, unless it is there. Prints the
# archive's name without ".tar"; beside it, ".packages" has the name, version and architecture of each package.
#
#   Image/rootfs.sh FLAVOUR FIRMWARE [VERSIONS [MORE]]
#
# FLAVOUR: direct or page; FIRMWARE: yes or no; VERSIONS: a ".packages" file whose versions are taken, or ""; MORE: a list of more packages, or "".
# The archive's key is made of the lists in Image/packages, this script, VERSIONS, MORE and the state of this machine's own apt (`apt-get update` makes another one).
# PARLOR_SNAPSHOT=20261130T000000Z takes the packages that Debian had at that time, from Debian's snapshot archive, whose address is PARLOR_ARCHIVE
# (https://HOST/archive). Needs root.
set -euo pipefail
cd "$(dirname "$0")/.."
flavour=$1 firmware=$2 versions=${3:-} more=${4:-}
cache=$PWD/.build/image/cache
mkdir -p "$cache"
exec 3>&1 1>&2

list() { local file; for file in "$@"; do grep -vE '^(#|$)' "$file" || true; done; }

declare -a wanted unwanted
mapfile -t wanted < <(list Image/packages/{base,"$flavour"} ${more:+"$more"}; [[ $firmware == no ]] || list Image/packages/firmware)
mapfile -t unwanted < <(list Image/packages/unwanted | sed 's,^,--dpkgopt=path-exclude=,')
unwanted+=("--dpkgopt=path-include=/usr/share/doc/*/copyright")
state() { if [[ -n ${PARLOR_SNAPSHOT:-} ]]; then echo "$PARLOR_SNAPSHOT"; else cat /var/lib/apt/lists/*bookworm*InRelease; fi; }
key=$({ cat "$0"; printf '%s\n' "${wanted[@]}" "${unwanted[@]}"; [[ -z $versions ]] || cat "$versions"; state; } | sha256sum | cut -c 1-12)
archive=$cache/debian${more:+-more}-$flavour-$([[ $firmware == no ]] && echo plain || echo firmware)-$key
if [[ -f $archive.tar ]]; then
  echo "$archive" >&3
  exit
fi
[[ -z ${PARLOR_SNAPSHOT:-} || -n ${PARLOR_ARCHIVE:-} ]] || { echo "image: PARLOR_SNAPSHOT needs PARLOR_ARCHIVE, the address of Debian's snapshot archive" >&2; exit 64; }
[[ $EUID -eq 0 ]] || { echo "image: must be built as root (mmdebstrap mounts and changes root)" >&2; exit 77; }

work=$cache/part.$$
mkdir "$work" "$work/sources" "$work/kernel"
trap 'rm -rf --one-file-system "$work"' EXIT
# The mirror is that of this machine's own apt. Firmware stands in a component of its own.
if [[ -n ${PARLOR_SNAPSHOT:-} ]]; then
  for part in "debian bookworm" "debian bookworm-updates" "debian-security bookworm-security"; do
    read -r name suite <<<"$part"
    echo "deb [check-valid-until=no] $PARLOR_ARCHIVE/$name/$PARLOR_SNAPSHOT $suite main non-free-firmware"
  done >"$work/sources/snapshot.list"
else
  for file in /etc/apt/sources.list.d/*debian.sources /etc/apt/sources.list; do
    [[ -s $file ]] || continue
    sed -E 's/^(Components:.*)$/\1 non-free-firmware/; s/^(deb .* main.*)$/\1 non-free-firmware/' "$file" >"$work/sources/${file##*/}"
  done
fi
kernel=linux-image-amd64
if [[ -n $versions ]]; then
  version_of() { awk -v name="$1" '$1 == name { print $2 }' "$versions"; }
  kernel=$(awk '$1 ~ /^linux-image-/ { print $1 "=" $2 }' "$versions")
  mapfile -t wanted < <(awk '$1 !~ /^linux-image-/ { print $1 "=" $2 }' "$versions")
fi

# The kernel's package is unpacked only: as an installed package it would bring tools that make initial file systems, which Parlor makes itself.
cat >"$work/fetch-kernel" <<'HOOK'
set -e
root=$1 work=$2 package=$3
cd "$work/kernel"
export APT_CONFIG=$MMDEBSTRAP_APT_CONFIG
case $package in
  linux-image-amd64) package=$(apt-cache show --no-all-versions linux-image-amd64 | sed -n 's/^Depends: \(linux-image-[^ ,]*\).*/\1/p') ;;
esac
apt-get --quiet=2 -o APT::Sandbox::User=root download "$package"
dpkg-deb --show --showformat '${Package} ${Version} ${Architecture}\n' linux-image-*.deb >../kernel.packages
dpkg-deb --fsys-tarfile linux-image-*.deb | tar -x --keep-directory-symlink -C "$root" --exclude-from=../unwanted
mv "$root"/boot/vmlinuz-* "$root/boot/vmlinuz"
rm -f "$root"/boot/System.map-* "$root"/boot/config-*
chroot "$root" depmod "$(ls "$root/lib/modules")"
HOOK
list Image/packages/unwanted | sed -n 's,^/lib/modules/,./lib/modules/,p' >"$work/unwanted"
echo './usr/share' >>"$work/unwanted"

echo "image: Debian's packages for '$flavour'"
log=$archive.log
if ! mmdebstrap --mode=root --variant=essential --format=directory --aptopt='APT::Install-Recommends "false"' "${unwanted[@]}" \
  --include="$(IFS=,; echo "${wanted[*]}")" --customize-hook="sh $work/fetch-kernel \"\$1\" $work $kernel" \
  bookworm "$work/root" "$work"/sources/* >"$log" 2>&1; then
  tail -n 30 "$log"
  echo "image: Debian's packages could not be installed; the whole log is $log"
  exit 69
fi
# Older ones of the same kind are of no use any more.
for old in "${archive%-*}"-*.tar; do rm -f "$old" "${old%.tar}".{packages,log}; done
{
  chroot "$work/root" dpkg-query --show --showformat '${Package} ${Version} ${Architecture}\n'
  cat "$work/kernel.packages"
} | LC_ALL=C sort >"$archive.packages"
# What was made today is not part of the packages.
rm -rf "$work/root"/var/{cache,log,lib/apt,tmp}/* "$work/root"/{tmp,run,dev}/* "$work/root/etc/machine-id" "$work/root"/etc/ssh/ssh_host_*
tar --sort=name --numeric-owner --xattrs -C "$work/root" -cf "$archive.tar.part" .
mv "$archive.tar.part" "$archive.tar"
echo "$archive" >&3
