#!/usr/bin/env bash
# Installs the C library: what `cargo cinstall --release` does, on Linux, without cargo-c (which takes some minutes to
# build).
#
#     [DESTDIR=ROOT] capi/install.sh [--prefix] PREFIX [--libdir LIBDIR]
#
# The headers go to PREFIX/include, the libraries to LIBDIR, argreduce.pc to LIBDIR/pkgconfig, files for CMake to
# LIBDIR/cmake/argreduce, licences and notices to PREFIX/share/licenses/argreduce. LIBDIR is `lib` if not given; a
# relative one is in PREFIX. With DESTDIR, as packages are built, all of it goes to the same places under that folder,
# and argreduce.pc still names PREFIX. If anything fails, nothing is left behind, and what an earlier installation put
# there is as it was.
#
# It builds for this machine, or for CARGO_BUILD_TARGET. Where Rust makes no shared libraries for that (musl), only the
# static one is installed.
#
# Without DESTDIR, the loader is told of the library by `ldconfig` if it searches LIBDIR, which takes root. If it does
# not, or pkg-config does not, the script says in the end what finds the library there.
set -euo pipefail

usage='usage: [DESTDIR=ROOT] capi/install.sh [--prefix] PREFIX [--libdir LIBDIR]'
fail() {
    echo "capi/install.sh: $*" >&2
    exit 2
}
prefix='' libdir=lib
while [ $# -gt 0 ]; do
    case $1 in
    --prefix | --libdir)
        [ $# -gt 1 ] || fail "$1 needs a folder; $usage"
        set -- "$1=$2" "${@:3}"
        continue
        ;;
    --prefix=*) prefix=${1#*=} ;;
    --libdir=*) libdir=${1#*=} ;;
    -h | --help) echo "$usage" && exit ;;
    -*) fail "$1 is no option; $usage" ;;
    *)
        [ -z "$prefix" ] || fail "$1 is one prefix too many; $usage"
        prefix=$1
        ;;
    esac
    shift
done
[ -n "$prefix" ] || fail "a prefix is missing; $usage"
[ -n "$libdir" ] || fail "--libdir is empty; $usage"
case $prefix$libdir in
*[[:space:]\"\'\$\\\#]*)
    fail "$prefix, $libdir: a pkg-config file cannot name folders with spaces, quotes, \$, \\ or # in them"
    ;;
esac
prefix=$(realpath -ms -- "$prefix")
case $libdir in /*) ;; *) libdir=$prefix/$libdir ;; esac
libdir=$(realpath -ms -- "$libdir")
root=${DESTDIR:+$(realpath -ms -- "$DESTDIR")}
# Said before minutes are spent on a build.
for folder in "$root$prefix" "$root$libdir"; do
    while [ ! -e "$folder" ]; do folder=$(dirname "$folder"); done
    [ -w "$folder" ] || fail "$folder cannot be written to: be root, give another prefix, or set DESTDIR"
done
cd "$(dirname "$0")/.."
echo "capi/install.sh: builds the C library and installs it to $root$prefix. The kernels are compiled first:" \
    "some minutes on two cores, unless an earlier run has done so." >&2

version=$(cargo pkgid -p argreduce-capi)
version=${version##*[#@]}
# As cargo-c has it: before 1.0, each minor version is an interface of its own.
case $version in 0.*) abi=${version%.*} ;; *) abi=${version%%.*} ;; esac

work=$(mktemp -d)
made=() staged=()
clean_up() {
    rm -rf "$work" ${staged[@]+"${staged[@]}"}
    # The innermost first. One that others have put something in stays.
    for ((n = ${#made[@]} - 1; n >= 0; --n)); do rmdir "${made[n]}" 2> /dev/null || true; done
}
trap clean_up EXIT

# Cargo says where the files are: CARGO_TARGET_DIR, and its configuration, may put them anywhere.
CARGO_TERM_COLOR=never cargo rustc --release -p argreduce-capi --lib --message-format=json-render-diagnostics -- \
    -C "link-arg=-Wl,-soname,libargreduce.so.$abi" --print native-static-libs 2>&1 > "$work/artifacts" |
    tee "$work/messages" >&2
built() {
    grep -o "\"[^\"]*/$1\"" "$work/artifacts" | tail -n 1 | tr -d '"' || fail "cargo has built no $1"
}
static=$(built libargreduce.a)
shared=''
grep -q 'dropping unsupported crate type `cdylib`' "$work/messages" || shared=$(built libargreduce.so)
# But libgcc: compilers link it of themselves, as suits. (With `-static`, there is no shared one.)
static_libraries=$(sed -n '/^note: native-static-libs: /{s///; s/-lgcc_s *//; p}' "$work/messages")
[ -n "$static_libraries" ] || fail "rustc has not said which libraries libargreduce.a needs"

# As it is said in argreduce.pc, and to CMake: so that folders can be moved together.
cmake=$libdir/cmake/argreduce
case $libdir in
"$prefix"/*)
    named_libdir="\${prefix}${libdir#"$prefix"}"
    include="\${argreduce_libdir}/$(realpath -m --relative-to="$libdir" "$prefix/include")"
    ;;
*)
    named_libdir=$libdir
    include=$prefix/include
    ;;
esac
# Without a shared library, whoever links needs all at once.
libraries=-largreduce
[ -n "$shared" ] || libraries="$libraries $static_libraries"
cat > "$work/argreduce.pc" << PC
prefix=$prefix
libdir=$named_libdir
includedir=\${prefix}/include

Name: argreduce
Description: ARGMIN and ARGMAX over any axes, types and strides, vectorised
Version: $version
Libs: -L\${libdir} $libraries
Libs.private: $static_libraries
Cflags: -I\${includedir}
PC

cat > "$work/argreduceConfig.cmake" << CMAKE
# find_package(argreduce CONFIG) gives argreduce::argreduce, the shared library, and argreduce::static. Where there is
# no shared one, both names are the static library's.
get_filename_component(argreduce_libdir "\${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(argreduce_libdir "\${argreduce_libdir}/../.." ABSOLUTE)
get_filename_component(argreduce_include "$include" ABSOLUTE)
if(NOT TARGET argreduce::argreduce)
  add_library(argreduce::static STATIC IMPORTED)
  set_target_properties(argreduce::static PROPERTIES
    IMPORTED_LOCATION "\${argreduce_libdir}/libargreduce.a"
    INTERFACE_INCLUDE_DIRECTORIES "\${argreduce_include}"
    INTERFACE_LINK_LIBRARIES "$(xargs <<< "$static_libraries" | tr ' ' ';')")
  if(EXISTS "\${argreduce_libdir}/libargreduce.so")
    add_library(argreduce::argreduce SHARED IMPORTED)
    set_target_properties(argreduce::argreduce PROPERTIES
      IMPORTED_LOCATION "\${argreduce_libdir}/libargreduce.so"
      INTERFACE_INCLUDE_DIRECTORIES "\${argreduce_include}")
  else()
    add_library(argreduce::argreduce INTERFACE IMPORTED)
    set_target_properties(argreduce::argreduce PROPERTIES INTERFACE_LINK_LIBRARIES argreduce::static)
  endif()
endif()
CMAKE
cat > "$work/argreduceConfigVersion.cmake" << CMAKE
# What was written for a version of the same soname, up to this one, finds all that it needs.
set(PACKAGE_VERSION $version)
set(PACKAGE_VERSION_COMPATIBLE TRUE)
if(PACKAGE_FIND_VERSION VERSION_LESS $abi OR PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
CMAKE

# All is written beside its place first. What remains to do then is to rename, which does not run out of space.
make_folder() {
    [ -d "$1" ] && return
    make_folder "$(dirname "$1")"
    mkdir -m 755 "$1"
    made+=("$1")
}
places=()
# stage PLACE COMMAND..: the command, with a name at its end, makes what is to be at the place
stage() {
    local place=$root$1 beside
    shift
    [ ! -d "$place" ] || fail "$place is a folder"
    make_folder "$(dirname "$place")"
    beside=$(dirname "$place")/.argreduce-$$-${#staged[@]}
    staged+=("$beside")
    places+=("$place")
    "$@" "$beside"
}
for file in argreduce.h argreduce.hpp; do
    stage "$prefix/include/$file" install -m 644 "capi/include/$file"
done
stage "$libdir/libargreduce.a" install -m 644 "$static"
if [ -n "$shared" ]; then
    stage "$libdir/libargreduce.so.$version" install -m 755 "$shared"
    stage "$libdir/libargreduce.so.$abi" ln -s "libargreduce.so.$version"
    stage "$libdir/libargreduce.so" ln -s "libargreduce.so.$version"
fi
stage "$libdir/pkgconfig/argreduce.pc" install -m 644 "$work/argreduce.pc"
for file in argreduceConfig.cmake argreduceConfigVersion.cmake; do
    stage "$cmake/$file" install -m 644 "$work/$file"
done
for file in LICENSE-APACHE LICENSE-MIT THIRD-PARTY-NOTICES; do
    stage "$prefix/share/licenses/argreduce/$file" install -m 644 "capi/$file"
done
trap '' HUP INT TERM
for n in "${!staged[@]}"; do mv -fT "${staged[n]}" "${places[n]}"; done
trap - HUP INT TERM
[ -z "$root" ] || exit 0

# is_among FOLDER FOLDERS, which colons separate; links are followed.
is_among() {
    local each folders
    IFS=: read -ra folders <<< "$2"
    for each in ${folders[@]+"${folders[@]}"}; do [ ! "$each" -ef "$1" ] || return 0; done
    return 1
}
PATH=$PATH:/usr/sbin:/sbin
searched=$(ldconfig -vNX 2> /dev/null | sed -n 's|^\(/[^:]*\):.*|\1|p' | paste -sd:) || true
if [ -z "$shared" ]; then
    echo "There is only the static library: Rust makes no shared one for ${CARGO_BUILD_TARGET:-this machine}"
elif ! is_among "$libdir" "$searched"; then
    echo "The loader does not search $libdir: link with -Wl,-rpath,$libdir, or set LD_LIBRARY_PATH=$libdir"
elif [ "$(id -u)" != 0 ] || ! ldconfig; then
    echo "The loader does not know of the library yet: as root, run ldconfig"
fi
searched=${PKG_CONFIG_PATH-}:$(pkg-config --variable=pc_path pkg-config 2> /dev/null) || true
is_among "$libdir/pkgconfig" "$searched" ||
    echo "pkg-config does not search $libdir/pkgconfig: set PKG_CONFIG_PATH=$libdir/pkgconfig"
