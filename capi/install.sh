#!/usr/bin/env bash
# Installs the C library under a prefix: what `cargo cinstall --release --prefix=PREFIX` does, on Linux, without cargo-c (which takes some
# minutes to build).
set -euo pipefail
prefix=${1:?usage: capi/install.sh PREFIX}
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
cd "$(dirname "$0")/.."

version=$(cargo pkgid -p argreduce-capi)
version=${version##*[#@]}
# As cargo-c has it: before 1.0, each minor version is an interface of its own.
case $version in 0.*) abi=${version%.*} ;; *) abi=${version%%.*} ;; esac
messages=$(CARGO_TERM_COLOR=never cargo rustc --release -p argreduce-capi --lib -- \
    -C "link-arg=-Wl,-soname,libargreduce.so.$abi" --print native-static-libs 2>&1 | tee -a /dev/stderr)
static_libraries=$(sed -n 's/^note: native-static-libs: //p' <<<"$messages")
[ -n "$static_libraries" ]

built=${CARGO_TARGET_DIR:-target}/release
install -Dm644 capi/include/argreduce.h "$prefix/include/argreduce.h"
install -Dm755 "$built/libargreduce.so" "$prefix/lib/libargreduce.so.$version"
ln -sf "libargreduce.so.$version" "$prefix/lib/libargreduce.so.$abi"
ln -sf "libargreduce.so.$version" "$prefix/lib/libargreduce.so"
install -Dm644 "$built/libargreduce.a" "$prefix/lib/libargreduce.a"
mkdir -p "$prefix/lib/pkgconfig"
cat > "$prefix/lib/pkgconfig/argreduce.pc" <<PC
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: argreduce
Description: ARGMIN and ARGMAX over any axes, types and strides, vectorised
Version: $version
Libs: -L\${libdir} -largreduce
Libs.private: $static_libraries
Cflags: -I\${includedir}
PC
