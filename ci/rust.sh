# Sourced after common.sh: Rust for other machines, where rustup's toolchain has no standard library for them. The compiler is Debian's
# rustc-web, unpacked beside everything else and driven by the cargo that is there: the standard libraries for other machines come with it
# as packages, signed as Debian's are, and the toolchain of this machine stays as it is. For musl and for WebAssembly, of which Debian has
# none, the library is built from Debian's source of it.
# shellcheck shell=bash
sysroot=$cache/rust

# Unpacks packages into the sysroot: unpack PACKAGE...
unpack() {
    local folder=$cache/debs
    rm -rf "$folder"
    mkdir -p "$folder"
    cd "$folder"
    apt-get "${apt_options[@]}" download -qq "$@" >&2 || return 1
    for package in *.deb; do dpkg-deb --extract "$package" "$sysroot"; done
    cd /
    rm -rf "$folder"
}

# All that Debian publishes for one architecture in one release.
debian_release() {
    private_apt "$2-$1" "$1" << END
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(debian_mirror debian) $2 main
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(debian_mirror debian) $2-updates main
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(debian_mirror debian-security) $2-security main
END
}

# What a package, in the newest version, depends on by a name like PATTERN.
depends_on() {
    apt-cache "${apt_options[@]}" show --no-all-versions "$1" | sed -n 's/^Depends: //p' | grep -oE "$2" | head -n 1
}

# Whatever changes the folder, or ends the script, does so in a process of its own: hence the parentheses.
get_compiler() (
    [ "$(uname -m)" = x86_64 ] || unavailable "this needs an x86-64 machine"
    mkdir -p "$sysroot"
    install_packages gcc libc6-dev zlib1g libedit2 libxml2 libzstd1 libz3-4
    [ ! -x "$sysroot/bin/rustdoc" ] || exit 0
    debian_release amd64 bookworm
    library=$(depends_on libstd-rust-web-dev 'libstd-rust-web-[0-9.]+') || unavailable "apt knows no rustc-web"
    llvm=$(depends_on "$library" 'libllvm[0-9]+') || unavailable "apt knows no $library"
    unpack rustc-web libstd-rust-web-dev "$library" "$llvm" || unavailable "apt could not download rustc-web"
    mkdir -p "$sysroot/bin"
    for tool in rustc rustdoc; do
        cat > "$sysroot/bin/$tool" << END
#!/bin/sh
LD_LIBRARY_PATH='$sysroot/usr/lib/x86_64-linux-gnu' exec '$sysroot/usr/bin/$tool' "\$@"
END
        chmod +x "$sysroot/bin/$tool"
    done
)

# A package for an architecture, of the compiler's version; releases of Debian do not have all architectures of all versions.
# get_of_same_version PACKAGE ARCHITECTURE
get_of_same_version() (
    version=$("$sysroot/bin/rustc" --version | cut -d ' ' -f 2)
    for suite in bookworm trixie; do
        debian_release "$2" "$suite"
        full=$(apt-cache "${apt_options[@]}" madison "$1" | awk -v version="$version" '
            { split($3, parts, "[+-]") } parts[1] == version { print $3; exit }')
        [ -n "$full" ] || continue
        unpack "$1=$full" || continue
        exit
    done
    unavailable "apt has no $1 of Rust $version for $2"
)

# The source of the standard library.
get_source() {
    [ -e "$sysroot/usr/lib/rustlib/src/rust/library/Cargo.lock" ] || get_of_same_version rust-web-src amd64
}

# The standard library for a machine of which Debian has none, from its source: a minute of one core.
build_library() (
    get_source
    work=$cache/rust-for-$1.new
    rm -rf "$work"
    mkdir -p "$work/src" "$work/lib"
    printf '[package]\nname = "nothing"\nedition = "2024"\n' > "$work/Cargo.toml"
    : > "$work/src/lib.rs"
    # WebAssembly has no unwinding, and no panic but an abort.
    local panic=panic_unwind
    [[ $1 != wasm* ]] || panic=panic_abort
    # -Z build-std is not stable: hence the variable.
    cd "$work"
    RUSTC=$sysroot/bin/rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS='' CARGO_TARGET_DIR=$work/target \
        cargo build --quiet --release -Z build-std=std,$panic --target "$1" >&2 ||
        unavailable "Rust's standard library could not be built for $1"
    cp target/"$1"/release/deps/lib*.rlib lib
    rm lib/libnothing-*
    mkdir -p "$sysroot/usr/lib/rustlib/$1"
    mv lib "$sysroot/usr/lib/rustlib/$1/lib"
    rm -rf "$work"
)

# Debian's library for a machine: get_library TRIPLE DEBIAN'S ARCHITECTURE
get_library() {
    [ ! -d "$sysroot/usr/lib/rustlib/$1/lib" ] || return 0
    case $1 in
        *-musl | wasm*) build_library "$1" ;;
        *) get_of_same_version libstd-rust-web-dev "$2" ;;
    esac
}

# Makes the compiler build for a machine: rustup's toolchain if it can, or else Debian's. rust_for TRIPLE
rust_for() {
    [ ! -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ] || return 0
    get_compiler
    case $1 in
        x86_64-*) get_library "$1" amd64 ;;
        aarch64-*) get_library "$1" arm64 ;;
        *) unavailable "no way is known here to a standard library for $1" ;;
    esac
    export RUSTC=$sysroot/bin/rustc RUSTDOC=$sysroot/bin/rustdoc PATH=$sysroot/bin:$PATH
    # What starts a program is the linker's then, zig's; and no file of rustup's.
    case $1 in *-musl) export RUSTFLAGS="${RUSTFLAGS:-} -C link-self-contained=no" ;; esac
}
