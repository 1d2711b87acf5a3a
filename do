#!/usr/bin/env bash
# The way in: fetches what is missing on Debian and Ubuntu, builds, and does what was asked for.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
    cat <<'END'
./do build    build the program (build/carom) and the library (build/libcarom.*)
./do demo     simulate an impacting slider-crank: a picture, and a page that moves (build/demo/)
./do test     build twice (optimised; with sanitizers) and run the tests in both
./do bench    nanoseconds per step, for every scheme and model
./do study    the papers' experiments; ./do study NAME repeats one (build/studies/NAME/)
./do help     this text

Packages that are missing are installed through apt-get, as root or with sudo; ./do says which and why.
END
}

# package | how to see that it is there | why; `needs test` names also what only tests use
needs() {
    if [[ ${1:-} == test ]]; then echo "python3-numpy|test -e /usr/lib/python3/dist-packages/numpy|the Python package"; fi
    cat <<'END'
gcc|command -v gcc|the compiler
libc6-dev|test -e /usr/include/stdio.h|the C library's headers
make|command -v make|runs the build
cmake|command -v cmake|describes the build
ninja-build|command -v ninja|builds in parallel
pkg-config|command -v pkg-config|finds libraries
libyaml-dev|pkg-config --exists yaml-0.1|model files
libhdf5-dev|test -e /usr/include/hdf5/serial/hdf5.h|result files
libsundials-dev|test -e /usr/include/cvode/cvode.h|event-driven integration
libsuitesparse-dev|test -e /usr/include/suitesparse/klu.h|sparse matrices
liblapack-dev|compgen -G /usr/lib/*/liblapack.so|modes
libarpack2-dev|test -e /usr/include/arpack/arpack.h|modes of large models
libcminpack-dev|pkg-config --exists cminpack|fits
libnlopt-dev|pkg-config --exists nlopt|optima
libqhull-dev|pkg-config --exists qhull_r|hulls of meshes
libcmocka-dev|pkg-config --exists cmocka|the tests
gnuplot-nox|command -v gnuplot|pictures
END
}

fetch() { # [test]
    local missing=() package probe why
    while IFS='|' read -r package probe why; do
        $probe >/dev/null 2>&1 || { missing+=("$package"); echo "missing: $package ($why)"; }
    done <<<"$(needs "${1:-}")"
    ((${#missing[@]})) || return 0

    if ! command -v apt-get >/dev/null; then
        echo "./do: this system has no apt-get; please install what is named above by its own means (the names are Debian's)" >&2
        exit 1
    fi
    local root=()
    if ((EUID != 0)); then
        if ! command -v sudo >/dev/null; then
            echo "./do: installing needs root: run  apt-get install --no-install-recommends ${missing[*]}  as root, then ./do again" >&2
            exit 1
        fi
        root=(sudo)
    fi
    echo "installing: ${missing[*]}"
    install_packages "${missing[@]}" && return 0
    echo "./do: apt-get could not install: ${missing[*]}; its messages are above" >&2
    exit 1
}

# The package lists are fetched only when the ones at hand do not do.
install_packages() {
    local install=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@")
    if apt-cache show "$@" >/dev/null 2>&1 && "${install[@]}" >/dev/null; then return 0; fi
    echo "fetching the package lists"
    "${root[@]}" apt-get update -qq && "${install[@]}" >/dev/null
}

# A build folder that was configured elsewhere (a copied tree) is of no use here.
fresh() {
    local cache=$1/CMakeCache.txt
    if [[ -e $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then rm -rf "$1"; fi
}

build() {
    fetch
    fresh build
    make --no-print-directory program
}

demo() {
    build
    mkdir -p build/demo
    build/carom run models/slider-crank.yaml --out build/demo/slider-crank.h5
    build/carom plot build/demo/slider-crank.h5 -o build/demo/slider-crank.png >/dev/null
    build/carom plot build/demo/slider-crank.h5 -o build/demo/slider-crank.svg >/dev/null
    build/carom view build/demo/slider-crank.h5 -o build/demo/slider-crank.html >/dev/null
    cat <<END

the model    models/slider-crank.yaml
the result   build/demo/slider-crank.h5
the picture  build/demo/slider-crank.png (and .svg)
the page     build/demo/slider-crank.html: open it in a browser and see it move
             file://$PWD/build/demo/slider-crank.html
END
}

study() { # [NAME]: without one, what there is
    local script
    if [[ -z ${1:-} ]]; then
        for script in studies/*.sh; do printf '%-17s %s\n' "$(basename "$script" .sh)" "$(sed -n '2s/^# //p' "$script")"; done
        return
    fi
    if [[ ! -x studies/$1.sh ]]; then
        echo "./do: there is no study '$1'; there are:" >&2
        study >&2
        exit 2
    fi
    build
    "studies/$1.sh"
    echo
    echo "everything is in build/studies/$1/; what the paper says beside it: docs/studies.md"
}

passed=0 failed=0
count() { # make TARGET: its ctest run, added to the totals; a run that cannot be read is a failure
    local log=build/$1.log status=0
    make --no-print-directory "$1" 2>&1 | tee "$log" || status=$?
    if [[ $(<"$log") =~ ([0-9]+)\ tests?\ failed\ out\ of\ ([0-9]+) ]]; then
        failed=$((failed + BASH_REMATCH[1]))
        passed=$((passed + BASH_REMATCH[2] - BASH_REMATCH[1]))
        if ((status != 0 && BASH_REMATCH[1] == 0)); then failed=$((failed + 1)); fi
    else
        echo "./do: 'make $1' ran no tests; see above"
        failed=$((failed + 1))
    fi
}

run_tests() {
    fetch test
    fresh build
    fresh build/sanitize
    mkdir -p build
    count test
    count test-sanitize
    echo
    echo "$passed passed, $failed failed"
    ((failed == 0))
}

case ${1:-help} in
    build) build ;;
    demo) demo ;;
    test) run_tests ;;
    bench) fetch && fresh build && make --no-print-directory bench ;;
    study) study "${2:-}" ;;
    help | -h | --help) usage ;;
    *)
        echo "./do: there is no '$1'" >&2
        usage >&2
        exit 2
        ;;
esac
