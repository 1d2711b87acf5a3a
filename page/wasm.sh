#!/usr/bin/env bash
# wasm.sh [LIBYAML]: the engine of `carom play` as WebAssembly: page/dist/carom.wasm.gz, which is committed and becomes part of the program.
# Needs Debian's clang, lld, wasi-libc and libclang-rt-14-dev-wasm32, and libyaml's sources: the folder LIBYAML, or what `apt-get source libyaml` gives.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

yaml=${1:-}
if [[ -z $yaml ]]; then
    (cd "$work" && apt-get source -qq libyaml >/dev/null) || { echo "wasm.sh: no sources of libyaml: name their folder, or give apt-get a deb-src line" >&2; exit 1; }
    yaml=$(echo "$work"/libyaml-*/)
fi
[[ -e $yaml/src/parser.c ]] || { echo "wasm.sh: $yaml holds no libyaml" >&2; exit 1; }

# -ffp-contract=off: the bits of the program where libm's agree.  -Os: a browser compiles what the first run calls, and that takes longer than the run.
flags=(--target=wasm32-wasi -D_WASI_EMULATED_SIGNAL -Os -std=c17 -ffp-contract=off -fno-math-errno -ffunction-sections -fdata-sections -DCAROM_INSIDE -Isrc -Iinclude -Isrc/play/stand-in -I"$yaml/include")
yaml_flags=(--target=wasm32-wasi -Os -ffunction-sections -I"$yaml/include" -I"$yaml/src" -DYAML_VERSION_MAJOR=0 -DYAML_VERSION_MINOR=2 -DYAML_VERSION_PATCH=5 '-DYAML_VERSION_STRING="0.2.5"')
sources() { # everything up to a run and its page; what needs threads, files or libraries stays away
    find src/{base,linalg,expr,system,flex,collide,contact,solver,scheme,sim,diagnosis,mech,read,model,derive,event,run,play} -name '*.c' | grep -vE '^src/(event/(cvode|schemes)|run/team|derive/ctext/)[^/]*\.c$'
    ls src/io/{memory,print,ledger,record,record_columns,record_state,result,result_drop,sides,snapshots}.c src/cli/page_{rows,write}.c src/fmu/plain.c
}
compile() { clang "${@:2}" -c "$1" -o "$work/$(tr / _ <<<"$1").o"; }
export -f compile
export work
sources | sort | xargs -P "$(nproc)" -I{} bash -c 'compile "$@"' _ {} "${flags[@]}"
printf '%s\n' "$yaml"/src/*.c | xargs -P "$(nproc)" -I{} bash -c 'compile "$@"' _ {} "${yaml_flags[@]}"
clang --target=wasm32-wasi -Wl,--gc-sections -Wl,--strip-all -Wl,-z,stack-size=1048576 "$work"/*.o -o "$work/carom.wasm"
gzip -9 -n -c "$work/carom.wasm" >page/dist/carom.wasm.gz
echo "page/dist/carom.wasm.gz $(($(stat -c %s page/dist/carom.wasm.gz) / 1024)) KB ($(($(stat -c %s "$work/carom.wasm") / 1024)) KB unpacked)"
