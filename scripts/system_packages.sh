#!/usr/bin/env bash
# Installs what the build needs from Debian, and the packages that are named as arguments; of all that
# only what is missing.
set -euo pipefail

python=${PYTHON:-python3}
missing=()

installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "No apt here: g++, Xbyak, Highway and Python headers must be installed already." >&2
  exit 0
fi

command -v g++ >/dev/null || missing+=(g++)
for package in libxbyak-dev libhwy-dev "$@"; do
  installed "$package" || missing+=("$package")
done
if command -v "$python" >/dev/null; then
  # A Python from elsewhere than Debian brings both of these itself.
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  "$python" -c 'import ensurepip, venv' 2>/dev/null || missing+=("python$version-venv")
  "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
    missing+=("python$version-dev")
elif [ "$python" = python3 ]; then
  missing+=(python3 python3-venv python3-dev)
else
  echo "PYTHON=$python: no such program" >&2
  exit 1
fi

[ ${#missing[@]} -gt 0 ] || exit 0
echo "Installing: ${missing[*]}"
sudo=()
[ "$(id -u)" -eq 0 ] || sudo=(sudo)
"${sudo[@]}" apt-get update
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y --no-install-recommends "${missing[@]}"
