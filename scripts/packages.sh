#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Install what is missing of the Debian packages the workbench needs, and of those
# named, saying which. Nothing is done, and no privilege asked for, when all are there.
set -eu

[ -e "${0%/*}/arch/${ARCH:-x86_64}" ] || {
	echo "error: unknown ARCH '$ARCH'; there are: $(cd "${0%/*}/arch" && echo *)" >&2
	exit 1
}

need="python3 python3-ply python3-git git ccache build-essential bc bison flex libelf-dev libssl-dev
libdw-dev openssl rsync cpio kmod xz-utils zstd gcc-aarch64-linux-gnu
libc6-dev-arm64-cross qemu-system-x86 qemu-system-arm mmdebstrap
clang-19 lld-19 llvm-19 sparse shellcheck pyflakes3 gnuplot-nox debhelper
fakeroot uidmap $*"

missing=
# shellcheck disable=SC2086 # the list is meant to be split
for p in $need; do
	dpkg-query -W -f '${db:Status-Abbrev}' "$p" 2>/dev/null | grep -q '^[ih]i' ||
		missing="$missing $p"
done
[ -n "$missing" ] || exit 0

if grep -qE '^ID=debian' /etc/os-release 2>/dev/null; then
	echo "== installing Debian packages:$missing"
else
	echo "error: not a Debian machine; install by hand:$missing" >&2
	exit 1
fi

as_root=
if [ "$(id -u)" != 0 ]; then
	as_root=sudo
	command -v sudo >/dev/null || {
		echo "error: to install packages, run this as root or with sudo there" >&2
		exit 1
	}
fi
mkdir -p build/logs
log=build/logs/packages.log
# shellcheck disable=SC2086
{
	$as_root apt-get -q update &&
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o DPkg::Lock::Timeout=600 --no-install-recommends install $missing
	echo "exit $?"
} 2>&1 | tee "$log" | awk '/^(Need to get|Setting up|E:)/ { print "   " $0; fflush() }'
if ! tail -n 1 "$log" | grep -qx 'exit 0'; then
	echo "error: apt-get failed; the whole log: $log" >&2
	exit 1
fi
