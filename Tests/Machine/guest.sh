#!/bin/bash
# Builds the guest of the machine tests, a small Debian 12, in .build/machine/guest-KEY, unless it is there, and prints that folder.
# KEY is made of this script, the sources beside it of which modules are made, and the versions of the Swift toolchain and of the machine's own Debian. Needs root, for mmdebstrap.
#
# The folder holds root.ext4 (never written to: every run has an overlay of its own), vmlinuz, initrd and a throw-away ssh key.
set -euo pipefail
cd "$(dirname "$0")/../.."

toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")
stock_clients=(/usr/bin/weston-simple-shm /usr/bin/weston-simple-touch)
button=$PWD/Tests/Machine/test_button.c
isochronous=$PWD/Tests/Machine/isochronous.patch
key=$({ cat "$0" "$button" "$isochronous"; swift --version 2>/dev/null; cat /etc/debian_version "${stock_clients[@]}"; } | sha256sum | cut -c 1-12)
work=$PWD/.build/machine
guest=$work/guest-$key
if [[ -f $guest/root.ext4 ]]; then
  echo "$guest"
  exit
fi
[[ $EUID -eq 0 ]] || { echo "guest: must be built as root (mmdebstrap mounts and changes root)" >&2; exit 77; }

# Only the folder's name goes to standard output.
exec 3>&1 1>&2
say() { printf 'guest: %4d s  %s\n' "$SECONDS" "$*"; }

part=$work/guest.part
log=$work/guest.log
rm -rf --one-file-system "$part"
mkdir -p "$part/kernel"
exec 4>"$log"
trap '[[ $? -eq 0 ]] || { tail -n 30 "$log"; echo "guest: failed; the whole log is $log"; }' EXIT

packages=(
  # The system.
  systemd-sysv udev kmod linux-image-amd64 initramfs-tools zstd openssh-server procps python3-minimal
  # What parlor is linked against, its fonts, trust roots and keyboard layouts.
  ca-certificates fonts-dejavu-core libcurl4 libdrm2 libevdev2 libgbm1 libinput10 libmicrohttpd12 libopenh264-7 libopus0 libpangocairo-1.0-0
  libqrencode4 libspeexdsp1 libssl3 libstdc++6 libudev1 libvpx7 libwayland-client0 libwayland-server0 libxkbcommon0 libyuv0 xkb-data
  # The same for cameras and sound cards.
  libasound2 libkissfft-float131 libsamplerate0 libturbojpeg0 libv4lconvert0 libva-drm2 libva2 libwebrtc-audio-processing1
  # What parlor-bench compares with.
  libusrsctp2
  # Other programs that can hold the display, a camera, a sound card.
  libdrm-tests v4l-utils alsa-utils
)
# What no virtual machine has: half of the size.
declare -a unwanted=()
for path in man doc locale info; do unwanted+=("--dpkgopt=path-exclude=/usr/share/$path/*"); done
for path in infiniband md net/ethernet net/wireless scsi staging ata isdn nvme gpu/drm/{amd,i915,nouveau,radeon} mmc mtd iio; do
  unwanted+=("--dpkgopt=path-exclude=/lib/modules/*/kernel/drivers/$path/*")
done

# The mirror is that of this machine's own apt.
declare -a sources=()
for file in /etc/apt/sources.list.d/*debian.sources /etc/apt/sources.list /etc/apt/sources.list.d/0000*; do
  [[ ! -s $file || ${sources[*]} == *"$file"* ]] || sources+=("$file")
done

say "Debian packages: ${#packages[@]} and what they need"
# The kernel's headers and source are of the very version that is installed, so they come in the same run.
cat >"$part/fetch-kernel" <<'HOOK'
set -e
version=$(ls "$1/lib/modules")
series=$(echo "$version" | cut -d . -f 1,2)
cd "$2/kernel"
echo "$version" >version
APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get --quiet=2 -o APT::Sandbox::User=root download \
  "linux-headers-$version" "linux-headers-${version%-amd64}-common" "linux-kbuild-$series" "linux-source-$series"
HOOK
mmdebstrap --mode=root --variant=minbase --format=directory --aptopt='APT::Install-Recommends "false"' "${unwanted[@]}" \
  --include="$(IFS=,; echo "${packages[*]}")" --customize-hook="sh $part/fetch-kernel \"\$1\" $part" \
  bookworm "$part/root" "${sources[@]}" >&4 2>&1
root=$part/root

# Not among Debian's modules: vkms, the display driver with a vertical blank but no display; a GPIO chip without hardware; vicodec, a coder and decoder
# without hardware, and what it needs; an emulated USB controller that cameras and sound cards work on.
version=$(cat "$part/kernel/version")
say "vkms, a button, vicodec and a USB controller for kernel $version"
(
  cd "$part/kernel"
  for package in linux-headers-*.deb linux-kbuild-*.deb; do dpkg-deb -x "$package" headers; done
  dpkg-deb --fsys-tarfile linux-source-*.deb | tar -xO --wildcards './usr/src/linux-source-*.tar.xz' |
    tar -xJ --strip-components=1 --wildcards '*/drivers/gpu/drm/vkms/*' '*/drivers/gpu/drm/*.h' \
      '*/drivers/media/test-drivers/vicodec/*' '*/drivers/media/v4l2-core/v4l2-mem2mem.c' '*/drivers/usb/gadget/udc/dummy_hcd.c'
  headers=$PWD/headers/usr/src/linux-headers-$version
  sed -i "s, /usr/src/, $PWD/headers/usr/src/," "$headers/Makefile"
  mkdir button
  cp "$button" button/
  echo 'obj-m := test_button.o' >button/Makefile
  mv drivers/media/v4l2-core/v4l2-mem2mem.c drivers/media/test-drivers/vicodec/
  echo 'obj-m += v4l2-mem2mem.o' >>drivers/media/test-drivers/vicodec/Makefile
  patch --strip=1 <"$isochronous"
  echo 'obj-m := dummy_hcd.o' >drivers/usb/gadget/udc/Makefile
  # What a make around this one was told is not for the kernel's.
  module() { env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -C "$headers" M="$PWD/$1" "${@:2}" modules; }
  module drivers/gpu/drm/vkms CONFIG_DRM_VKMS=m
  module button
  module drivers/media/test-drivers/vicodec CONFIG_VIDEO_VICODEC=m
  module drivers/usb/gadget/udc
  cp drivers/gpu/drm/vkms/vkms.ko "$root/lib/modules/$version/kernel/drivers/gpu/drm/"
  cp button/test_button.ko "$root/lib/modules/$version/kernel/drivers/gpio/"
  cp drivers/media/test-drivers/vicodec/*.ko "$root/lib/modules/$version/kernel/drivers/media/"
  cp drivers/usb/gadget/udc/dummy_hcd.ko "$root/lib/modules/$version/kernel/drivers/usb/gadget/udc/"
) >&4 2>&1

say "settings"
chroot "$root" depmod "$version" >&4 2>&1
swift_libraries=$root$toolchain/lib/swift/linux
mkdir -p "$swift_libraries"
cp "$toolchain"/lib/swift/linux/*.so "$swift_libraries"
rm -f "$swift_libraries"/lib{Testing,XCTest,_InternalSwiftStaticMirror,FoundationNetworking,FoundationXML}*.so
cp "${stock_clients[@]}" "$root/usr/local/bin/"
echo guest >"$root/etc/hostname"
printf '127.0.0.1 localhost guest\n::1 localhost\n' >"$root/etc/hosts"
: >"$root/etc/fstab"
for group in video render input audio; do chroot "$root" getent group "$group" >/dev/null || chroot "$root" groupadd --system "$group"; done
chroot "$root" useradd --create-home --groups video,render,input,audio parlor
mkdir -p "$root/parlor" "$root/root/.ssh" "$root/etc/ssh/sshd_config.d" "$root/etc/systemd/network"
ssh-keygen -q -t ed25519 -N '' -C '' -f "$part/id_ed25519"
cp "$part/id_ed25519.pub" "$root/root/.ssh/authorized_keys"
printf 'UseDNS no\nUsePAM no\nMaxSessions 100\n' >"$root/etc/ssh/sshd_config.d/guest.conf"
# QEMU's user network always looks like this.
printf '[Match]\nDriver=virtio_net\n[Network]\nAddress=10.0.2.15/24\nGateway=10.0.2.2\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n' \
  >"$root/etc/systemd/network/10-user.network"
chroot "$root" systemctl --quiet enable systemd-networkd ssh >&4 2>&1
# As on the appliance, nobody else is on the virtual terminal; and nothing wakes up by itself in the middle of a test.
chroot "$root" systemctl --quiet mask getty@tty1.service systemd-networkd-wait-online.service apt-daily.timer apt-daily-upgrade.timer \
  dpkg-db-backup.timer e2scrub_all.timer fstrim.timer systemd-timesyncd.service >&4 2>&1
# The test restores this machine's state at will: its journal is of no use later.
mkdir -p "$root/etc/systemd/journald.conf.d"
printf '[Journal]\nStorage=volatile\n' >"$root/etc/systemd/journald.conf.d/guest.conf"

say "boot files and image"
printf 'virtio_pci\nvirtio_blk\next4\n' >>"$root/etc/initramfs-tools/modules"
sed -i 's/^MODULES=.*/MODULES=list/; s/^COMPRESS=.*/COMPRESS=zstd/' "$root/etc/initramfs-tools/initramfs.conf"
chroot "$root" mkinitramfs -o /boot/initrd "$version" >&4 2>&1
mv "$root/boot/initrd" "$part/initrd"
cp "$root/boot/vmlinuz-$version" "$part/vmlinuz"
rm -rf --one-file-system "$root"/boot/* "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*
truncate -s 2G "$part/root.ext4"
mke2fs -q -t ext4 -O ^has_journal -E lazy_itable_init=1 -d "$root" "$part/root.ext4" >&4 2>&1

rm -rf --one-file-system "$root" "$part/kernel" "$part/fetch-kernel"
# Older guests, and the booted machines kept of them, are of no use any more.
rm -rf --one-file-system "$work"/guest-*
mv "$part" "$guest"
say "built: $(du -sh "$guest" | cut -f 1) in $guest"
echo "$guest" >&3
