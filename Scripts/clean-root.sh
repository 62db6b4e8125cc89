#!/bin/bash
# Proves that the project needs nothing but Debian 12 and the Swift toolchain: makes a minimal root file system with
# mmdebstrap, mounts the toolchain into it, clones the last commit into it, and runs make there. Needs root.
#
#   Scripts/clean-root.sh build demo test
#
# The bare root is kept in .build-clean-root/base.tar; each run starts from it. PARLOR_KEEP_ROOT=1 keeps the used root.
set -euo pipefail
cd "$(dirname "$0")/.."
[[ $EUID -eq 0 ]] || { echo "clean-root: must be run as root (it mounts and changes root)" >&2; exit 77; }
[[ $# -gt 0 ]] || { echo "usage: Scripts/clean-root.sh TARGET…" >&2; exit 64; }
Scripts/setup.sh clean-root

work=$PWD/.build-clean-root
root=$work/root
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")
mkdir -p "$work"

# The mirror and its keys are those of this machine's own apt.
if [[ ! -f $work/base.tar ]]; then
  sources=/etc/apt/sources.list.d/debian.sources
  [[ -f $sources ]] || sources=/etc/apt/sources.list
  mmdebstrap --quiet --format=tar --variant=minbase --include=make,ca-certificates bookworm "$work/base.tar.part" "$sources"
  mv "$work/base.tar.part" "$work/base.tar"
fi
rm -rf --one-file-system "$root"
mkdir -p "$root"
tar -xpf "$work/base.tar" -C "$root"
git clone --quiet --no-hardlinks "$PWD" "$root/parlor"
mkdir -p "$root/opt/swift"
cp -f /etc/resolv.conf "$root/etc/resolv.conf"
printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"  # as an installer writes it
# A proxy's certificate authority is a property of this network, not a package: bring the host's bundle and settings along.
cp -L /etc/ssl/certs/ca-certificates.crt "$root/host-ca.crt"
declare -a environment=(
  HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/swift/bin
  SSL_CERT_FILE=/host-ca.crt PIP_CERT=/host-ca.crt CURL_CA_BUNDLE=/host-ca.crt GIT_SSL_CAINFO=/host-ca.crt
)
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_DEFAULT_TIMEOUT; do
  [[ -z ${!name:-} ]] || environment+=("$name=${!name}")
done
for file in /etc/apt/apt.conf.d/*proxy* /etc/apt/apt.conf; do
  [[ ! -f $file ]] || cp "$file" "$root/etc/apt/apt.conf.d/99host-$(basename "$file")"
done

# Mounts live in a mount namespace of their own, so that nothing is left behind however this ends.
cat >"$work/enter.sh" <<'INNER'
set -euo pipefail
root=$1 toolchain=$2; shift 2
mount --bind "$root" "$root"
mount --bind -o ro "$toolchain" "$root/opt/swift"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
exec chroot "$root" "$@"
INNER
started=$SECONDS status=0
unshare --mount --pid --fork --kill-child --propagation private -- \
  bash "$work/enter.sh" "$root" "$toolchain" env -i "${environment[@]}" make -C /parlor "$@" </dev/null || status=$?
echo "clean-root: make $* ended with $status after $((SECONDS - started)) s"
[[ -n ${PARLOR_KEEP_ROOT:-} ]] || rm -rf --one-file-system "$root"
exit "$status"
