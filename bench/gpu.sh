#!/bin/sh
# gpu.sh: sweeps on an NVIDIA card, as files of `carom export cuda`.
#
#   bench/gpu.sh export FOLDER [CAROM]   write the .cu files (CAROM: the program, build/carom by default)
#   bench/gpu.sh run FOLDER [ARCH]       build them with $CAROM_NVCC or nvcc (ARCH: native by default) and measure them, best of three
#
# `run` needs nvcc and a card and nothing else, so FOLDER and this file can be copied to another machine.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
usage() { sed -n 's/^#   //p' "$0" >&2; exit 2; }
[ $# -ge 2 ] || usage
folder=$2

export_all() { # CAROM
    mkdir -p "$folder"
    "$1" export cuda "$here/models/slider-crank-frictionless.yaml" --scheme moreau-midpoint --step 1e-5 --end 0.1 \
        --vary "th1'=140:160:1048576" --observe th1 -o "$folder/crank.cu"
    "$1" export cuda "$here/studies/grazing.yaml" --scheme moreau-midpoint --step 1e-3 --end 1000 \
        --vary a=0.9:1.6:10000 --transient 150 --section 'every 2*pi/w' --count 100 --observe x -o "$folder/grazing.cu"
    "$1" export cuda "$here/models/slider-crank-clearance.yaml" --scheme moreau-midpoint --step 1e-5 --end 0.1 \
        --vary m3=0.05:0.1:262144 --observe slider.x -o "$folder/clearance.cu"
    "$1" export cuda "$here/studies/die.yaml" --scheme moreau-midpoint --step 1e-3 --end 3 \
        --vary wx=0:60:256 --vary wy=0:60:256 --observe up -o "$folder/dice.cu"
}

measure() { # NAME WHAT GOAL: the time on the card and back, in seconds
    began=$(date +%s)
    "${CAROM_NVCC:-nvcc}" -O3 -std=c++17 -arch="$arch" "$folder/$1.cu" -o "$folder/$1"
    compiled=$(($(date +%s) - began))
    for i in 1 2 3; do "$folder/$1" none 2>>"$folder/$1.log" || { cat "$folder/$1.log" >&2; exit 1; }; done
    # start A s, to the card B s, sweep C s, back D s
    awk -v what="$2" -v goal="$3" -v compiled=$compiled '
        /runs outside of lanes/ { counts = $0 }
        /^start/ { t = $7 + $10 + $13; if (!n++ || t < best) { best = t; card = $10 } }
        END { if (!n) exit 1; printf "%s\n  %s\n  %.3f s (of this %.3f s on the card; goal %s s), compiled in %d s\n", what, counts, best, card, goal, compiled }' "$folder/$1.log"
}

case $1 in
export) export_all "${3:-$here/build/carom}" ;;
run)
    arch=${3:-native}
    rm -f "$folder"/*.log
    measure crank "1 048 576 slider-cranks without friction x 10 000 steps, moreau-midpoint" 0.5
    measure clearance "262 144 slider-cranks of bodies and joints with clearance x 10 000 steps, moreau-midpoint" 3
    measure dice "65 536 dice thrown on a table, 3 s in steps of 1e-3, moreau-midpoint" 0.6
    measure grazing "bifurcation diagram of a driven oscillator with a stop, 10 000 amplitudes x 100 points, step 1e-3, moreau-midpoint" 1
    ;;
*) usage ;;
esac
