#!/bin/bash
# Makes the initial file system from a root file system: Image/initrd/init, the programs it calls, the modules named in Image/initrd/modules, and, in front of it, processors' microcode.
#
#   Image/initrd.sh ROOT OUTPUT
#
# It is not Debian's: that one starts udev, runs dozens of scripts, and would take longer than all the rest up to the first picture.
set -euo pipefail
root=$1 output=$2
here=$(dirname "$(readlink -f "$0")")/initrd
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
tree=$work/tree
mkdir -p "$tree"/{bin,dev,etc,proc,root,run,sys,lib,lib64}
ln -s lib "$tree/usr-lib" && rm "$tree/usr-lib"

install -m 0755 "$here/init" "$tree/init"
for program in /bin/busybox /sbin/dmsetup /sbin/e2fsck; do
  install -m 0755 "$root$program" "$tree/bin/"
  # Debian's busybox needs no library.
  chroot "$root" ldd "$program" 2>/dev/null | grep -oE '/[^ ]+' | while read -r library; do
    mkdir -p "$tree$(dirname "$library")"
    cp --dereference "$root$library" "$tree$library"
  done || true
done
ln -s busybox "$tree/bin/sh"

version=$(ls "$root/lib/modules")
sed -n 's/^!//p' "$here/modules" >"$tree/etc/modules"
sed -n 's/^!\?\([a-z].*\)/\1/p' "$here/modules" | while read -r module; do
  chroot "$root" modprobe --set-version "$version" --ignore-install --show-depends "$module"
done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | sort -u | while read -r file; do
  mkdir -p "$tree$(dirname "$file")"
  cp "$root$file" "$tree$file"
done
cp "$root/lib/modules/$version"/modules.{builtin,builtin.modinfo,order} "$tree/lib/modules/$version/"
depmod --basedir "$tree" "$version"
# busybox reads the indices that are text.
rm -f "$tree/lib/modules/$version"/*.bin

archive() {  # folder
  find "$1" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
  (cd "$1" && find . | LC_ALL=C sort | cpio --quiet --create --format=newc --owner=0:0 --reproducible)
}

: >"$output"
microcode=$work/early/kernel/x86/microcode
mkdir -p "$microcode"
if [[ -d $root/lib/firmware/intel-ucode ]]; then cat "$root"/lib/firmware/intel-ucode/* >"$microcode/GenuineIntel.bin"; fi
if [[ -d $root/lib/firmware/amd-ucode ]]; then cat "$root"/lib/firmware/amd-ucode/*.bin >"$microcode/AuthenticAMD.bin"; fi
if [[ -n $(ls "$microcode") ]]; then archive "$work/early" >>"$output"; fi
archive "$tree" | zstd --quiet -19 >>"$output"
