#!/bin/bash
# Makes a root file system of Debian's part: lays Image/overlay over it, installs Parlor, its units and users, and takes away what a read-only box has no use for.
#
#   Image/system.sh ROOT FLAVOUR VERSION PROGRAMS
#
# PROGRAMS is the folder of the built programs. PARLOR_DEBUG_KEY, a file with an SSH public key, makes a system that root may log into: for the tests, never for a site.
set -euo pipefail
root=$1 flavour=$2 version=$3 programs=$4
here=$(dirname "$(readlink -f "$0")")
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"; }

cp -a --no-preserve=ownership "$here/overlay/." "$root/"

# Parlor. The programs look for Swift's runtime beside them, not where this machine's toolchain is.
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")
folder=$root/usr/lib/parlor
install -d "$folder/swift"
declare -a binaries=(parlor) libraries=()
if [[ $flavour == page ]]; then
  binaries+=(parlor-page)
  libraries=(libparlor-page-extension.so libparlor-page-trust.so libparlor-no-graphics.so)
fi
for name in "${binaries[@]}"; do
  strip --strip-all -o "$folder/$name" "$programs/$name"
  patchelf --set-rpath '$ORIGIN/swift' "$folder/$name"
  chmod 0755 "$folder/$name"
  ln -s "../lib/parlor/$name" "$root/usr/bin/$name"
done
for name in "${libraries[@]}"; do
  strip --strip-unneeded -o "$folder/$name" "$programs/$name"
  chmod 0644 "$folder/$name"
done
needed() { objdump -p "$@" 2>/dev/null | awk '$1 == "NEEDED" { print $2 }' | sort -u; }
declare -a pending=("${binaries[@]/#/$folder/}")
while [[ ${#pending[@]} -gt 0 ]]; do
  declare -a next=()
  for name in $(needed "${pending[@]}"); do
    source=$toolchain/lib/swift/linux/$name
    if [[ -f $source && ! -f $folder/swift/$name ]]; then
      strip --strip-unneeded -o "$folder/swift/$name" "$source"
      next+=("$folder/swift/$name")
    fi
  done
  pending=("${next[@]}")
done

install -D -m 0644 "$here/../Config/ssh/sshd_config" "$root/etc/ssh/sshd_config"
install -D -m 0644 "$here/../Config/polkit/50-parlor.rules" "$root/etc/polkit-1/rules.d/50-parlor.rules"
install -D -m 0644 "$here/../Config/tmpfiles/parlor-operator.conf" "$root/usr/lib/tmpfiles.d/parlor-operator.conf"

units=$root/usr/lib/systemd/system
for unit in "$here"/../Config/systemd/*.{service,timer}; do
  name=$(basename "$unit")
  case $flavour/$name in */parlor-splash.service | direct/parlor-page.service) continue ;; esac
  install -m 0644 "$unit" "$units/$name"
done

# Here the display's device is there, and the program's, before udev is (load-display-driver). Other devices may come at any time.
sed -i '/^After=/s/ systemd-udevd\.service//' "$units/parlor.service"

ln -s parlor "$root/usr/bin/parlor-shell"

# Users, with numbers that stay: they own files on the data partition.
for group in video render input audio; do in_root getent group "$group" >/dev/null || in_root groupadd --system "$group"; done
in_root groupadd --system --gid 900 parlor
in_root useradd --system --uid 900 --gid parlor --groups video,render,input,audio --home-dir /var/lib/parlor --no-create-home --shell /usr/sbin/nologin parlor
in_root useradd --system --uid 901 --gid operator --groups parlor,systemd-journal --home-dir /run/parlor-provision --no-create-home --shell /usr/bin/parlor-shell operator
# Nobody has a password. An asterisk is no password, and unlike "!" does not keep keys from being used.
sed -i -E 's/^(root|parlor|operator):[^:]*:/\1:*:/' "$root/etc/shadow"
echo /usr/bin/parlor-shell >>"$root/etc/shells"

# What the system writes stands on the data partition or in memory; in /etc there are links.
ln -sfn /var/lib/parlor-system/current "$root/etc/parlor"
ln -sfn /run/NetworkManager/resolv.conf "$root/etc/resolv.conf"
ln -sfn /run/parlor-provision/localtime "$root/etc/localtime"
rm -f "$root"/etc/{timezone,motd,issue,issue.net,mtab,machine-id,hostname} "$root"/etc/update-motd.d/*
ln -sfn ../proc/self/mounts "$root/etc/mtab"
: >"$root/etc/machine-id"
: >"$root/etc/fstab"
echo parlor >"$root/etc/hostname"
sed -i 's/^hosts:.*/hosts: files myhostname dns/' "$root/etc/nsswitch.conf"

compatible=parlor-$flavour-amd64
sed -i "s/@COMPATIBLE@/$compatible/" "$root/etc/rauc/system.conf"
cat >"$root/usr/lib/os-release" <<END
ID=parlor
ID_LIKE=debian
NAME=Parlor
PRETTY_NAME="Parlor $version ($flavour)"
VERSION_ID=$version
VARIANT_ID=$flavour
IMAGE_ID=$compatible
IMAGE_VERSION=$version
END
ln -sfn ../usr/lib/os-release "$root/etc/os-release"

if [[ -n ${PARLOR_DEBUG_KEY:-} ]]; then
  install -D -m 0600 "$PARLOR_DEBUG_KEY" "$root/etc/ssh/debug_authorized_keys"
  sed -i 's/^AllowUsers.*/AllowUsers operator root/; s/^PermitRootLogin.*/PermitRootLogin prohibit-password/' "$root/etc/ssh/sshd_config"
  printf 'Match User root\n  AuthorizedKeysFile /etc/ssh/debug_authorized_keys\n' >>"$root/etc/ssh/sshd_config"
  echo 'VARIANT="debug: root may log in"' >>"$root/usr/lib/os-release"
fi

# What starts. Everything else of Debian's is masked, not merely left out: nothing that a package brings later starts by itself.
in_root systemctl --quiet preset-all 2>/dev/null || true
declare -a enabled=(parlor.service parlor-display.service parlor-grow-data.service parlor-host-key.service ssh.service NetworkManager.service systemd-timesyncd.service parlor-update.timer parlor-connections.timer parlor-syslog.service systemd-journal-upload.service)
for unit in parlor-page.service parlor-provision.service parlor-health.timer; do [[ ! -f $units/$unit ]] || enabled+=("$unit"); done
declare -a masked=(
  getty@.service serial-getty@.service console-getty.service container-getty@.service getty.target
  apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer man-db.timer
  systemd-bless-boot.service systemd-boot-check-no-failures.service systemd-boot-system-token.service systemd-boot-update.service systemd-machine-id-commit.service
  systemd-firstboot.service systemd-hwdb-update.service systemd-journal-catalog-update.service systemd-sysusers.service systemd-update-done.service
  systemd-pcrphase.service systemd-pcrphase-sysinit.service systemd-pcrmachine.service
  systemd-networkd.service systemd-networkd.socket systemd-networkd-wait-online.service systemd-rfkill.service systemd-rfkill.socket
  systemd-remount-fs.service systemd-quotacheck.service systemd-fsck-root.service systemd-backlight@.service systemd-ask-password-console.path systemd-ask-password-wall.path
  ldconfig.service dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount sys-kernel-tracing.mount proc-sys-fs-binfmt_misc.automount
  NetworkManager-wait-online.service NetworkManager-dispatcher.service ModemManager.service rauc-mark-good.service
  emergency.service rescue.service debug-shell.service ssh.socket keyboard-setup.service console-setup.service
  modprobe@.service systemd-modules-load.service systemd-repart.service systemd-binfmt.service sys-kernel-config.mount sys-fs-fuse-connections.mount
  systemd-update-utmp.service systemd-update-utmp-runlevel.service
  rsyslog.service syslog.socket systemd-journal-gatewayd.socket systemd-journal-remote.socket systemd-journal-gatewayd.service systemd-journal-remote.service
  ctrl-alt-del.target alsa-restore.service alsa-state.service systemd-hostnamed.service
)
rm -rf "$root"/etc/systemd/system/*.wants "$root"/etc/systemd/system/*.requires
for unit in "${enabled[@]}"; do in_root systemctl --quiet enable "$unit"; done
for unit in "${masked[@]}"; do ln -sfn /dev/null "$root/etc/systemd/system/$unit"; done
ln -sfn /usr/share/systemd/tmp.mount "$root/etc/systemd/system/tmp.mount"
# Nothing here is found out at the start: there are no other file systems, consoles or old scripts.
mkdir -p "$root/etc/systemd/system-generators"
for generator in "$root"/usr/lib/systemd/system-generators/*; do ln -s /dev/null "$root/etc/systemd/system-generators/$(basename "$generator")"; done
in_root systemctl --quiet set-default multi-user.target
mkdir -p "$root/etc/systemd/system/local-fs.target.wants"
ln -sfn /usr/share/systemd/tmp.mount "$root/etc/systemd/system/local-fs.target.wants/tmp.mount"

# Caches that a read-only system cannot make later. Fonts' ages are compared with their folders'.
in_root ldconfig
if [[ -x $root/usr/bin/fc-cache ]]; then
  sed -i 's,<cachedir>/var/cache/fontconfig</cachedir>,<cachedir>/usr/lib/fontconfig/cache</cachedir>,' "$root/etc/fonts/fonts.conf"
  find "$root/usr/share/fonts" "$root/etc/fonts" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
  in_root fc-cache --really-force --system-only >/dev/null
fi

# What the picture needs, in this order: the initial file system has it read while systemd starts.
in_root ldd /usr/lib/parlor/parlor | awk 'BEGIN { print "usr/lib/parlor/parlor" } $2 == "=>" { print substr($3, 2) } ' >"$root/usr/lib/parlor/first-files"
(cd "$root" && ls usr/share/fonts/truetype/dejavu/DejaVuSans{,-Bold}.ttf 2>/dev/null || true) >>"$root/usr/lib/parlor/first-files"

# The list of packages stays, for those who ask what is in there; tools that install some go, and the languages they are written in.
rm -rf "$root"/usr/share/{perl,perl5,perl-base,doc-base,debconf,mime,applications,icons,pixmaps,sounds,menu,polkit-1/actions.unused} "$root"/usr/lib/x86_64-linux-gnu/{perl,perl-base,perl5,libperl*} \
  "$root"/usr/bin/{perl*,dpkg*,apt*} "$root"/usr/lib/{dpkg,apt} "$root"/etc/{apt,dpkg,cron.*,kernel,initramfs-tools,logrotate.d,update-motd.d,init.d,rc*.d}
# Sources of what is compiled: hwdb.bin.
rm -rf "$root/usr/lib/udev/hwdb.d"
find "$root/var/lib/dpkg" -mindepth 1 -maxdepth 1 ! -name status -exec rm -rf {} +
install -D -m 0644 "$root/var/lib/dpkg/status" "$root/usr/lib/parlor/packages"
rm -rf "$root"/var/lib/{dpkg,apt,systemd/deb-systemd-helper-enabled,systemd/deb-systemd-helper-masked,ucf,pam,python,xml-core,sgml-base,misc} "$root"/var/{cache,log,backups,spool,opt,local,mail,tmp,lock}

# /var is the data partition, empty at first: systemd makes its folders at each start.
{
  echo '# The folders of /var that Debian packages bring.'
  (cd "$root" && find var -mindepth 2 -type d -printf '/%p %m %U %G\n') | LC_ALL=C sort | while read -r path mode user group; do
    echo "d $path 0$mode $user $group -"
  done
} >"$root/usr/lib/tmpfiles.d/parlor-var.conf"
find "$root/var" -mindepth 1 -delete
rm -rf "$root"/{boot,home,media,mnt,opt,srv}
mkdir "$root"/{boot,home,media,mnt,opt,srv}
rm -f "$root"/etc/*- "$root"/etc/.pwd.lock "$root"/etc/ssh/ssh_host_*
