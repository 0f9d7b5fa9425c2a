#!/usr/bin/env bash
# Unpacks Debian's Python for arm64, and the packages that the tests need, below a folder:
#
#   scripts/aarch64_python.sh build-aarch64/python
#
#   root/   the Debian packages, unpacked: nothing is installed on this machine, and what apt and
#           dpkg know of it stays as it is
#   site/   Python packages for arm64
#   python  runs this Python in an emulator, on the CPU that QEMU_CPU names
#
# Packages come from where apt and pip of this machine take theirs. A stamp makes a second run quick.
set -euo pipefail

mkdir -p "$1"
folder=$(realpath "$1")
requirements=(numpy pytest hypothesis joblib safetensors tokenizers huggingface_hub ml_dtypes jinja2 'click>=8.1' tqdm)
stamp="$folder/unpacked-$(cat "$0" | sha256sum | cut -c1-16)"
[ ! -e "$stamp" ] || exit 0
rm -rf "$folder"/{apt,root,site,unpacked-*}
mkdir -p "$folder"/{apt/lists/partial,apt/cache/archives/partial,root,site}

# A state of apt for another architecture, in which nothing is installed yet.
touch "$folder/apt/status"
cat >"$folder/apt/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Dir::State "$folder/apt";
Dir::State::lists "$folder/apt/lists";
Dir::State::status "$folder/apt/status";
Dir::Cache "$folder/apt/cache";
Dir::Log "$folder/apt";
END
export APT_CONFIG="$folder/apt/apt.conf"
apt-get -qq update
apt-get -qq --download-only --yes install python3 libpython3-dev libstdc++6
for package in "$folder"/apt/cache/archives/*.deb; do dpkg-deb --extract "$package" "$folder/root"; done
unset APT_CONFIG

# Tests start programs by sys.executable.
cat >"$folder/python" <<END
#!/bin/sh
exec qemu-aarch64-static -L "$folder/root" "$folder/root/usr/bin/python3" "\$@"
END
chmod +x "$folder/python"
cat >"$folder/site/sitecustomize.py" <<END
import sys

sys.executable = "$folder/python"
END

version=$("$folder/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
# Headers of the architecture are found beside the others.
ln -sfn ../aarch64-linux-gnu "$folder/root/usr/include/python$version/aarch64-linux-gnu"

platforms=()
for glibc in 2_17 2_24 2_26 2_27 2_28 2_31 2_34; do platforms+=(--platform "manylinux_${glibc}_aarch64"); done
"${PYTHON:-python3}" -m pip --disable-pip-version-check --quiet install --target "$folder/site" \
  --only-binary :all: --implementation cp --python-version "$version" \
  --platform manylinux2014_aarch64 "${platforms[@]}" "${requirements[@]}"
rm -rf "$folder/apt/cache"
touch "$stamp"
