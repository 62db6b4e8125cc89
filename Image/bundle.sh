#!/bin/bash
# Makes an update: a signed RAUC bundle of a slot's file system and its two kernels.
#
#   Image/bundle.sh FOLDER KEYS COMPATIBLE VERSION OUTPUT       FOLDER holds rootfs.img, kernel-a.efi and kernel-b.efi
set -euo pipefail
folder=$1 keys=$2 compatible=$3 version=$4 output=$5
install -m 0755 "$(dirname "$0")/bundle-hook" "$folder/hook"
cat >"$folder/manifest.raucm" <<END
[update]
compatible=$compatible
version=$version

[bundle]
format=verity

[hooks]
filename=hook

[image.rootfs]
filename=rootfs.img
hooks=post-install
END
touch --date "@$SOURCE_DATE_EPOCH" "$folder"/*
rm -f "$output"
rauc --cert "$keys/update.crt" --key "$keys/update.key" --keyring "$keys/update-ca.crt" \
  --mksquashfs-args="-comp zstd -Xcompression-level 3 -quiet -no-progress" \
  bundle "$folder" "$output" >"$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 70; }
