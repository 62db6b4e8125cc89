#!/bin/bash
# Makes the image that is flashed, and the bundle that updates it, in .build/image.
#
#   Image/build.sh [--flavour page|direct] [--packages FILE] [--overlay FOLDER] [--quick] [--output FOLDER] [--programs FOLDER] [--versions FILE] [--debug-key FILE]
#
#   --flavour     page, with the web engine (else); direct, without
#   --packages    more Debian packages, one a line
#   --overlay     a folder whose files are laid over the finished system, such as drivers' settings; links to /dev/null mask units
#   --quick       for tests: no firmware, compressed in little time, no .xz
#   --output      where the results lie (.build/image)
#   --programs    the built programs (.build/release)
#   --versions    the Debian packages in the very versions of this list, a ".packages" file of an earlier build
#   --debug-key   for tests: root may log in with this SSH public key
#
# Parts: rootfs.sh (Debian's packages), system.sh (Parlor and its settings), initrd.sh. Everything that is not content is fixed: times are those of the last commit, identifiers and salts are
# constants or made of the content. So two builds of the same commit with the same packages give the same bytes. Needs root.
set -euo pipefail
cd "$(dirname "$0")/.."

flavour=page quick=no output=$PWD/.build/image programs=$PWD/.build/release versions='' debug_key='' packages='' overlay=''
while [[ $# -gt 0 ]]; do
  case $1 in
    --flavour) flavour=$2 && shift 2 ;;
    --packages) packages=$(readlink -f "$2") && shift 2 ;;
    --overlay) overlay=$(readlink -f "$2") && shift 2 ;;
    --quick) quick=yes && shift ;;
    --output) output=$(readlink -m "$2") && shift 2 ;;
    --programs) programs=$(readlink -f "$2") && shift 2 ;;
    --versions) versions=$(readlink -f "$2") && shift 2 ;;
    --debug-key) debug_key=$(readlink -f "$2") && shift 2 ;;
    *) echo "image: no option '$1'; there are --flavour, --packages, --overlay, --quick, --output, --programs, --versions, --debug-key" >&2; exit 64 ;;
  esac
done
case $flavour in page | direct) ;; *) echo "image: --flavour is page or direct, not '$flavour'" >&2; exit 64 ;; esac
[[ -z $packages || -f $packages ]] || { echo "image: there is no list of packages '$packages'" >&2; exit 66; }
[[ -z $overlay || -d $overlay ]] || { echo "image: there is no folder '$overlay'" >&2; exit 66; }
[[ $EUID -eq 0 ]] || { echo "image: must be built as root (mmdebstrap mounts and changes root)" >&2; exit 77; }
say() { printf 'image: %4d s  %s\n' "$SECONDS" "$*" >&2; }

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8
version=$("$programs/parlor" version | sed 's/^parlor //')
name=parlor-$version-amd64-$flavour
mkdir -p "$output"
work=$(mktemp -d "$output/part.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT

# Sizes in MiB. A slot is twice what is in it today.
case $flavour in page) slot_size=1024 ;; direct) slot_size=512 ;; esac
esp_size=128 parlor_size=64 data_size=128
[[ $quick == no ]] && firmware=yes compression=(-comp zstd -Xcompression-level 15) || firmware=no compression=(-comp zstd -Xcompression-level 1)

archive=$(Image/rootfs.sh "$flavour" "$firmware" "$versions" "$packages")
keys=$(Image/keys.sh)
say "the system"
root=$work/root
mkdir "$root" "$work/slot" "$work/esp" "$work/parlor"
tar --numeric-owner --xattrs -C "$root" -xf "$archive.tar"
mv "$root/boot/vmlinuz" "$work/vmlinuz"
install -D -m 0644 "$keys/update-ca.crt" "$root/usr/lib/parlor/update-keyring.pem"
# Provisioning puts the image's own there, or the site's (update.keyring_file).
mkdir -p "$root/etc/rauc"
ln -sfn /run/parlor-provision/update-keyring.pem "$root/etc/rauc/keyring.pem"
PARLOR_DEBUG_KEY=$debug_key Image/system.sh "$root" "$flavour" "$version" "$programs"
[[ -z $overlay ]] || cp -a --no-preserve=ownership "$overlay/." "$root/"
say "the initial file system"
Image/initrd.sh "$root" "$work/initrd"
rm -rf "$root"/lib/firmware/{intel-ucode,amd-ucode}

# A slot: the file system, and behind it dm-verity's tree. The salt need not be secret, but has to be the same in the next build.
say "the slot"
slot=$work/slot/rootfs.img
env --unset=SOURCE_DATE_EPOCH mksquashfs "$root" "$slot" "${compression[@]}" -noappend -no-progress -quiet -xattrs -mkfs-time "$SOURCE_DATE_EPOCH" -all-time "$SOURCE_DATE_EPOCH"
truncate --size=%4096 "$slot"
blocks=$(($(stat -c %s "$slot") / 4096))
salt=$(sha256sum "$slot" | cut -c 1-64)
hash=$(veritysetup format --no-superblock --salt="$salt" --hash-offset=$((blocks * 4096)) --data-blocks="$blocks" "$slot" "$slot" |
  sed -n 's/^Root hash:[[:space:]]*//p')
used=$(($(stat -c %s "$slot") >> 20))
[[ $used -lt $slot_size ]] || { echo "image: the system takes $used MiB, but a slot has $slot_size" >&2; exit 70; }

# The kernels, each of which knows its slot and what has to be in it. "gpt": while the data partition is made larger, a power cut may leave only the copy of the table of partitions.
sign() { if [[ -f $keys/secure-boot.key ]]; then sbsign --key "$keys/secure-boot.key" --cert "$keys/secure-boot.crt" --output "$1" "$1" 2>/dev/null; fi; }
for letter in a b; do
  printf 'parlor.slot=%s rauc.slot=%s parlor.verity=%s,%s,%s gpt ro quiet loglevel=3 panic=10 transparent_hugepage=never consoleblank=0 vt.global_cursor_default=0 systemd.show_status=no%s\0' \
    "$letter" "${letter^}" "$blocks" "$salt" "$hash" "${PARLOR_KERNEL_OPTIONS:+ $PARLOR_KERNEL_OPTIONS}" >"$work/options-$letter"
  # Neither version nor sort key: systemd-boot is to go by the file's name alone (overlay/usr/lib/parlor/rauc-boot).
  grep -E '^(ID|NAME|PRETTY_NAME)=' "$root/usr/lib/os-release" >"$work/os-release"
  objcopy \
    --add-section .osrel="$work/os-release" --change-section-vma .osrel=0x20000 \
    --add-section .cmdline="$work/options-$letter" --change-section-vma .cmdline=0x30000 \
    --add-section .linux="$work/vmlinuz" --change-section-vma .linux=0x2000000 \
    --add-section .initrd="$work/initrd" --change-section-vma .initrd=0x4000000 \
    /usr/lib/systemd/boot/efi/linuxx64.efi.stub "$work/slot/kernel-$letter.efi"
  # objcopy writes the time of day into the header, eight bytes behind its beginning, and a checksum over it, which firmware does not look at.
  header=$(od -An -tu4 -j60 -N4 "$work/slot/kernel-$letter.efi")
  for offset in 8 88; do printf '\0\0\0\0' | dd of="$work/slot/kernel-$letter.efi" bs=1 seek=$((header + offset)) conv=notrunc status=none; done
  sign "$work/slot/kernel-$letter.efi"
done

say "partitions"
# FILE LABEL SERIAL SIZE: a FAT file system of the folder of the same name.
fat() {
  truncate --size="$4M" "$1"
  mkfs.fat --invariant -F 32 -n "$2" -i "$3" "$1" >/dev/null
  find "${1%.img}" -exec touch --date "@$SOURCE_DATE_EPOCH" {} +
  (cd "${1%.img}" && find . -mindepth 1 | LC_ALL=C sort | while read -r path; do
    if [[ -d $path ]]; then mmd -i "$1" "::$path"; else mcopy -m -i "$1" "$path" "::$path"; fi
  done)
}
mkdir -p "$work/esp/EFI/BOOT" "$work/esp/EFI/Linux" "$work/esp/loader"
cp /usr/lib/systemd/boot/efi/systemd-bootx64.efi "$work/esp/EFI/BOOT/BOOTX64.EFI"
sign "$work/esp/EFI/BOOT/BOOTX64.EFI"
cp "$work/slot/kernel-a.efi" "$work/esp/EFI/Linux/parlor-0001-a.efi"
printf 'timeout 0\neditor no\nauto-entries no\nauto-firmware no\n' >"$work/esp/loader/loader.conf"
if [[ -f $keys/secure-boot.key ]]; then
  # What the firmware can be told to trust: by its own menu, or by systemd-boot's; at the first start when PARLOR_SECURE_BOOT_ENROLL is "force" (and the firmware is in its setup mode).
  enrol=$work/esp/loader/keys/auto owner=7061726c-6f72-4000-8000-00000000b007
  mkdir -p "$enrol"
  openssl x509 -in "$keys/secure-boot.crt" -outform der -out "$enrol/secure-boot.der"
  sbsiglist --owner $owner --type x509 --output "$work/keys.esl" "$enrol/secure-boot.der"
  # A signature holds for the attributes that the variable gets, and without saying them it is made for appending.
  attributes=NON_VOLATILE,BOOTSERVICE_ACCESS,RUNTIME_ACCESS,TIME_BASED_AUTHENTICATED_WRITE_ACCESS
  for variable in PK KEK db; do
    sbvarsign --attr $attributes --key "$keys/secure-boot.key" --cert "$keys/secure-boot.crt" --output "$enrol/$variable.auth" $variable "$work/keys.esl" >/dev/null 2>&1
  done
  echo "secure-boot-enroll ${PARLOR_SECURE_BOOT_ENROLL:-manual}" >>"$work/esp/loader/loader.conf"
fi
fat "$work/esp.img" ESP 50415201 $esp_size
for file in Image/partition/* Config/parlor.toml; do
  case $file in *.toml) target=$work/parlor/parlor.example.toml ;; *) target=$work/parlor/$(basename "$file") ;; esac
  # For any PC: also for editors that know no other line ends.
  sed 's/$/\r/' "$file" >"$target"
done
fat "$work/parlor.img" PARLOR 50415202 $parlor_size
truncate --size=${data_size}M "$work/data.img"
E2FSPROGS_FAKE_TIME=$SOURCE_DATE_EPOCH mke2fs -q -t ext4 -b 4096 -L parlor-data -U 7061726c-6f72-4000-8000-000000000005 -m 1 \
  -E resize=268435456,hash_seed=7061726c-6f72-4000-8000-000000000006,lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0 "$work/data.img"

sed -e "s/@NAME@/$name/; s/@SLOT_SIZE@/${slot_size}M/" Image/genimage.cfg >"$work/genimage.cfg"
mkdir "$work/empty"
genimage --config "$work/genimage.cfg" --rootpath "$work/empty" --tmppath "$work/genimage.tmp" --inputpath "$work" --outputpath "$work" \
  >"$work/genimage.log" 2>&1 || { cat "$work/genimage.log" >&2; exit 70; }
cp "$archive.packages" "$output/$name.packages"
rm -f "$output/$name.img"
mv "$work/$name.img" "$output/$name.img"

say "the update's bundle"
Image/bundle.sh "$work/slot" "$keys" "parlor-$flavour-amd64" "$version" "$output/$name.raucb"
Image/sbom.py "$archive.packages" "$name" "$version" >"$output/$name.spdx.json"

if [[ $quick == no ]]; then
  say "what is published"
  cd "$output"
  bmaptool --quiet create --output "$name.bmap" "$name.img"
  # Its content is compressed already; the number of threads is part of the result.
  xz --keep --force --threads=2 -2 "$name.img"
  # Of all flavours that lie there.
  sha256sum parlor-*-amd64-*.{img.xz,bmap,raucb,packages,spdx.json} >SHA256SUMS
  say "$(du --apparent-size -m "$name.img.xz" | cut -f 1) MiB in $output/$name.img.xz"
fi
say "$output/$name.img: $used MiB in a slot of $slot_size"
