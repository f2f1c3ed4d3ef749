# Sourced by the gate and the scripts of this folder: packages, the folder where things are kept between runs, and programs of tests.
# shellcheck shell=bash

# Kept between runs where the machine keeps its disk. To start anew, delete it.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/argreduce-ci

# The exit status of "a package could not be downloaded", which is nobody's failure, and told apart from one. Whoever exits with it
# leaves one line of reason in `$cache/unavailable`, or the file that UNAVAILABLE_REASON names.
UNAVAILABLE=75

# Wherever the script goes.
script=$(realpath "$0" 2> /dev/null || true)

# Says how a script is used, by the comment at its head, and ends it: for --help, or for a word that it does not know.
# usage [WORD]
usage() {
    local status=2
    case ${1---} in
        --help | -h) status=0 ;;
        --) echo "$0: a word is missing" >&2 ;;
        *) echo "$0: $1: not known" >&2 ;;
    esac
    [ $status = 0 ] || exec >&2
    sed -n '2,/^set /s/^# \?//p' "$script"
    exit $status
}

unavailable() {
    local reason=${UNAVAILABLE_REASON:-$cache/unavailable}
    mkdir -p "$(dirname "$reason")"
    echo "$*" > "$reason"
    echo "$*" >&2
    exit $UNAVAILABLE
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# The lists of packages, read once per machine, or anew where a package is not in them.
update_lists() {
    as_root apt-get update -qq >&2 || true
}

# Installs those of the packages that are missing.
install_packages() {
    local missing=()
    for package in "$@"; do
        dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    # One at a time: apt waits for nobody.
    mkdir -p "$cache"
    local lock
    exec {lock}> "$cache/apt-lock"
    flock "$lock"
    local install=(apt-get install -y -qq --no-install-recommends "${missing[@]}")
    as_root env DEBIAN_FRONTEND=noninteractive "${install[@]}" --download-only >&2 || {
        update_lists
        as_root env DEBIAN_FRONTEND=noninteractive "${install[@]}" --download-only >&2 ||
            unavailable "apt could not download: ${missing[*]}"
    }
    as_root env DEBIAN_FRONTEND=noninteractive "${install[@]}" >&2
    exec {lock}>&-
}

# A virtual environment with packages of PyPI: make_environment FOLDER PYTHON PIP'S ARGUMENTS...
make_environment() {
    if ! "$2" -m venv "$1" 2>/dev/null; then
        # Debian has it in a package of its own.
        install_packages python3-venv
        "$2" -m venv "$1"
    fi
    "$1/bin/pip" install --quiet --disable-pip-version-check "${@:3}"
}

# Builds a test of the workspace, and says what its program is.
test_program() {
    cargo test --workspace --test "$1" --no-run --message-format=json |
        sed -n 's/.*"executable":"\([^"]*\/deps\/'"$1"'-[0-9a-f]*\)".*/\1/p'
}

# Where this machine gets Debian's packages from: `debian`, or `debian-security`.
debian_mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 "/$1/*\$" ||
        unavailable "apt has no source for $1: this needs a Debian machine"
}

# apt for one architecture and some lists of sources, beside the machine's own, which are left alone. Sets the array `apt_options`.
# private_apt NAME ARCHITECTURE, then lines for a sources.list on the standard input
private_apt() {
    local folder=$cache/apt/$1
    mkdir -p "$folder/lists/partial" "$folder/archives/partial"
    cat > "$folder/sources.list"
    apt_options=(
        -o "APT::Architecture=$2" -o "APT::Architectures=$2" -o "Dir::State::Lists=$folder/lists"
        -o "Dir::State::Status=/dev/null" -o "Dir::Cache::Archives=$folder/archives" -o "Dir::Etc::SourceParts=/dev/null"
        -o "Dir::Etc::SourceList=$folder/sources.list" -o "APT::Sandbox::User=$(id -un)" -o "Debug::NoLocking=1"
        -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache="
    )
    apt-get "${apt_options[@]}" update -qq >&2 || true
}
