#!/bin/sh
# basins.sh: basins of an oscillator between two stops and of a thrown die, as maps over two initial values.
#
#   bench/basins.sh lanes FOLDER N [CAROM]   N x N runs of each in the lanes of one core, with pictures
#   bench/basins.sh export FOLDER [CAROM]    a million runs of each as CUDA files (CAROM: build/carom by default)
#   bench/basins.sh run FOLDER [ARCH]        compile these with $CAROM_NVCC or nvcc (ARCH: native by default), run them, count outcomes
#
# `run` needs nvcc, a card and awk, so FOLDER and this file can be copied to another machine.  With export before it, in one call:
#   bench/basins.sh export out && bench/basins.sh run out
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
usage() { sed -n 's/^#   //p' "$0" >&2; exit 2; }
[ $# -ge 2 ] || usage
folder=$2
mkdir -p "$folder"

stops() { # N VERB: the rest follows
    n=$1 verb=$2 carom=$3
    shift 3
    "$carom" $verb "$here/studies/two-stops.yaml" --vary "x=-1:1:$n" --vary "x'=-3:3:$n" --transient 400 --observe 'mean(x)' --observe impacts "$@"
}
die() {
    n=$1 verb=$2 carom=$3
    shift 3
    "$carom" $verb "$here/studies/die.yaml" --vary "wx=0:60:$n" --vary "wy=0:60:$n" --observe up "$@"
}

# How many runs end in which motion: those of the oscillator by where it is on average, those of the die by its face.
count() { # FILE.csv COLUMN DIGITS
    awk -F, -v c="$2" -v digits="$3" 'NR > 1 { n[sprintf("%." digits "f", $c) + 0]++ }
        END { for (k in n) if (n[k] * 1000 >= NR) printf "    %s: %d\n", k, n[k] }' "$1" | sort -n
}

case $1 in
lanes)
    [ $# -ge 3 ] || usage
    for what in stops die; do
        rm -f "$folder/$what.h5" "$folder/$what.h5.journal"
        $what "$3" sweep "${4:-$here/build/carom}" --lanes on --jobs 1 --out "$folder/$what.h5" --plot "$folder/$what.png"
    done
    ;;
export)
    for what in stops die; do $what 1024 'export cuda' "${3:-$here/build/carom}" -o "$folder/$what.cu"; done
    ;;
run)
    for what in stops die; do
        "${CAROM_NVCC:-nvcc}" -O3 -std=c++17 -arch="${3:-native}" "$folder/$what.cu" -o "$folder/$what"
        echo "$what"
        "$folder/$what" "$folder/$what.csv"
    done
    echo "oscillator: mean of x, runs" && count "$folder/stops.csv" 6 1
    echo "die: face that is up, runs" && count "$folder/die.csv" 6 0
    ;;
*) usage ;;
esac
