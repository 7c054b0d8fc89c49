#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The tests of kernels on aarch64: the kernels are cross-compiled, and Debian's Python for arm64 runs the tests in an
# emulator. It takes a Debian, or what is made of one; all files are in build/aarch64. Arguments go to pytest.
set -eu
cd "$(dirname "$0")/../.."

BUILD=$PWD/build/aarch64
ROOT=$BUILD/root
KERNELS=src/mrforest/_core/kernels
CC=aarch64-linux-gnu-gcc
TOOLS="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
PACKAGES="python3 python3-numpy python3-pytest python3-hypothesis"

if ! command -v $CC >/dev/null || ! command -v qemu-aarch64 >/dev/null; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "missing: $CC and qemu-aarch64; Debian has them in $TOOLS" >&2
        exit 1
    fi
    apt-get update
    # shellcheck disable=SC2086
    apt-get install --yes --no-install-recommends $TOOLS
fi

# Packages of another architecture, unpacked into a folder: apt has a configuration of its own for them, in which
# nothing is installed.
if [ ! -e "$BUILD/unpacked" ]; then
    if ! command -v apt-get >/dev/null; then
        echo "missing: apt-get, to fetch $PACKAGES for arm64" >&2
        exit 1
    fi
    rm -rf "$BUILD"
    mkdir -p "$BUILD/apt/lists/partial" "$BUILD/apt/archives/partial" "$ROOT"
    : >"$BUILD/apt/status"
    . /etc/os-release
    echo "deb http://deb.debian.org/debian $VERSION_CODENAME main" >"$BUILD/apt/sources.list"
    cat >"$BUILD/apt/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Dir::State "$BUILD/apt";
Dir::State::lists "$BUILD/apt/lists";
Dir::State::status "$BUILD/apt/status";
Dir::Cache "$BUILD/apt";
Dir::Cache::archives "$BUILD/apt/archives";
Dir::Etc::sourcelist "$BUILD/apt/sources.list";
Dir::Etc::sourceparts "-";
END
    export APT_CONFIG="$BUILD/apt/apt.conf"
    apt-get update
    # shellcheck disable=SC2086
    apt-get install --yes --download-only $PACKAGES
    for package in "$BUILD"/apt/archives/*.deb; do dpkg-deb --extract "$package" "$ROOT"; done
    touch "$BUILD/unpacked"
fi

# As in meson.build
FLAGS="-O3 -std=c11 -fPIC -ffp-contract=off -fno-math-errno -fno-trapping-math"
# shellcheck disable=SC2086
$CC $FLAGS -shared -o "$BUILD/libkernels.so" -DMRFOREST_TABLE=mrforest_kernels_baseline '-DMRFOREST_NAME="baseline"' \
    $KERNELS/kernels.c $KERNELS/dispatch.c -lm

# Libraries of linear algebra, that NumPy is linked with, lie where Debian's alternatives would find them.
LIBRARIES=$ROOT/usr/lib/aarch64-linux-gnu
export MRFOREST_KERNELS_LIBRARY="$BUILD/libkernels.so"
HYPOTHESIS_PROFILE=${HYPOTHESIS_PROFILE:-emulated} exec qemu-aarch64 -L "$ROOT" \
    -E LD_LIBRARY_PATH="$LIBRARIES/blas:$LIBRARIES/lapack" \
    "$ROOT/usr/bin/python3" -m pytest -p no:cacheprovider tests/kernels -k "not avx2" "$@"
