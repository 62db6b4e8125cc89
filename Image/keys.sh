#!/bin/bash
# Prints the folder of the keys that sign what is built: PARLOR_KEYS, or one with keys for development, which are made when they aren't there yet.
#
#   update-ca.crt                    who may sign updates: goes into the image
#   update.key, update.crt           sign the bundle; the certificate is issued by one in update-ca.crt
#   secure-boot.key, secure-boot.crt sign the boot loader and the kernels, when they are there
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ -n ${PARLOR_KEYS:-} ]]; then
  for file in update-ca.crt update.key update.crt; do
    [[ -f $PARLOR_KEYS/$file ]] || { echo "image: PARLOR_KEYS: $PARLOR_KEYS has no $file" >&2; exit 66; }
  done
  readlink -f "$PARLOR_KEYS"
  exit
fi
keys=$PWD/.build/image-keys
if [[ ! -f $keys/update-ca.crt ]]; then
  part=$keys.part
  rm -rf "$part"
  mkdir -p -m 0700 "$part"
  {
    openssl req -x509 -newkey rsa:3072 -nodes -days 10000 -subj "/O=Parlor/CN=updates for development" -keyout "$part/update.key" -out "$part/update.crt"
    cp "$part/update.crt" "$part/update-ca.crt"
  } >/dev/null 2>&1
  mv "$part" "$keys"
fi
echo "$keys"
