#!/bin/bash
# Installs what a part of the project needs, and only what is missing: Debian packages of the groups named
# (Scripts/packages.txt), and for `test` the Python packages that the tests in Python need, in .build/venv.
#
#   Scripts/setup.sh build        what `swift build` needs
#   Scripts/setup.sh unit         that, and what the unit tests need
#   Scripts/setup.sh test         that, and the peers of the interop tests
#   Scripts/setup.sh machine      what `swift build` needs, and the virtual machine of Tests/Machine
#   Scripts/setup.sh image        what `swift build` needs, and what makes and boots the image
set -euo pipefail
cd "$(dirname "$0")/.."

list() {
  awk -v group="[$1]" '/^\[/ { inside = ($0 == group); next } inside && NF && !/^#/ { print $1 }' Scripts/packages.txt
}

missing() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || echo "$package"
  done
}

as_root() {
  if [[ $EUID -eq 0 ]]; then "$@"; else sudo -- "$@"; fi
}

install_packages() {
  local -a absent
  mapfile -t absent < <(missing "$@")
  [[ ${#absent[@]} -gt 0 ]] || return 0
  echo "setup: installing ${#absent[@]} Debian packages: ${absent[*]}"
  local -a apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q=2 -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120)
  local log policy=/usr/sbin/policy-rc.d
  log=$(mktemp)
  # Janus and coturn bring services; the tests start their own, so none is to start with the installation.
  if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod +x "$policy"
    trap 'as_root rm -f /usr/sbin/policy-rc.d' EXIT
  fi
  if ! { as_root "${apt[@]}" update && as_root "${apt[@]}" install -y --no-install-recommends "${absent[@]}"; } >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    rm -f "$log"
    echo "setup: apt-get failed; the packages above are needed" >&2
    exit 69
  fi
  rm -f "$log"
}

install_python() {
  local wanted=.build/requirements.txt stamp=.build/venv/requirements.txt
  mkdir -p .build
  cat Tests/{Interop,Echo,Fleet,Machine,PageCalls}/requirements.txt >"$wanted"
  cmp -s "$wanted" "$stamp" && return 0
  echo "setup: installing Python packages into .build/venv"
  mkdir -p .build
  rm -rf .build/venv
  /usr/bin/python3 -m venv .build/venv
  .build/venv/bin/pip --quiet --disable-pip-version-check install --requirement "$wanted" </dev/null
  cp "$wanted" "$stamp"
}

need_swift() {
  command -v swift >/dev/null && return 0
  echo "setup: no 'swift' on PATH. Parlor needs the Swift 6.3 toolchain for Debian 12: https://www.swift.org/install/linux/" >&2
  exit 69
}

need_swift
declare -a packages=()
python=no
for group in "${@:-build}"; do
  case $group in
    build) mapfile -t -O "${#packages[@]}" packages < <(list toolchain; list build) ;;
    unit) mapfile -t -O "${#packages[@]}" packages < <(list toolchain; list build; list unit) ;;
    test)
      mapfile -t -O "${#packages[@]}" packages < <(list toolchain; list build; list unit; list test)
      python=yes
      ;;
    machine) mapfile -t -O "${#packages[@]}" packages < <(list toolchain; list build; list machine) ;;
    image) mapfile -t -O "${#packages[@]}" packages < <(list toolchain; list build; list image) ;;
    clean-root) mapfile -t -O "${#packages[@]}" packages < <(list clean-root) ;;
    *)
      echo "setup: no group '$group'; there are build, unit, test, machine, image, clean-root" >&2
      exit 64
      ;;
  esac
done
install_packages "${packages[@]}"
if [[ $python == yes ]]; then install_python; fi
