#!/bin/sh
# ranks.sh CAROM FOLDER [long]: sweeps that the ranks of mpirun share: the same bytes as of one process; long: ranks that die.
# Exit status 77: mpirun is missing, or the program was built without MPI.
set -eu
carom=$1 folder=$2 long=${3:-}
command -v mpirun >/dev/null || { echo "skipped: there is no mpirun (Debian: openmpi-bin)"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 # Open MPI
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"                              # of the MPI library
mkdir -p "$folder"
here=$(cd "$(dirname "$0")" && pwd)
cd "$folder"
rm -f ./*.csv ./*.h5 ./*.journal

cat >table.yaml <<'END'
carom: 1
parameters: {Gamma: 1.3, e: 0.5}
coordinates: {x: {at: 3, rate: 2}}
energy: {kinetic: "1/2*x'^2", potential: x}
contacts: {table: {gap: x - Gamma*sin(t), restitution: e}}
simulation: {scheme: mixed, step: 0.05, end: 30}
END

same() { # A B
    cmp "$1.csv" "$2.csv"
    cmp "$1.csv.section.csv" "$2.csv.section.csv"
}
sweep() { # OUT runs the words after it, with a section
    out=$1
    shift
    "$@" "$carom" sweep table.yaml --vary Gamma=1.2:1.5:"$runs" --transient "$transient" --section 'every 2*pi' --count 3 --observe "x'" --observe x --quiet --out "$out.csv"
}

runs=20 transient=20
sweep alone env
if ! sweep two mpirun -n 2 2>said; then
    cat said
    grep -q "built without MPI" said && { echo "skipped: this carom was built without MPI"; exit 77; }
    exit 1
fi
same alone two
sweep three mpirun -n 3
same alone three

# What is wrong is said once, and exit status 2 comes back.
code=0
mpirun -n 2 "$carom" sweep table.yaml --vary Gammo=1,2 --observe x --out wrong.csv 2>said || code=$?
[ $code = 2 ]
[ "$(grep -c "did you mean 'Gamma'" said)" = 1 ]
[ -z "$long" ] && exit 0

# Chains, threads, parts, lanes, HDF5.
follow="--vary e=0.4:0.6:5 --vary Gamma=1.2:1.5:8 --follow both --observe x --quiet --out"
"$carom" sweep table.yaml $follow chains.csv
mpirun -n 3 "$carom" sweep table.yaml $follow chains3.csv
cmp chains.csv chains3.csv
mpirun -n 2 "$carom" sweep table.yaml --vary Gamma=1.2:1.5:20 --observe x --jobs 2 --quiet --out jobs.csv
"$carom" sweep table.yaml --vary Gamma=1.2:1.5:20 --observe x --quiet --out one.csv
cmp one.csv jobs.csv
for i in 1 2; do mpirun -n 2 "$carom" sweep table.yaml --vary Gamma=1.2:1.5:20 --observe x --quiet --part $i/2 --out part$i.h5; done
"$carom" merge part1.h5 part2.h5 -o parts.csv >/dev/null
cmp one.csv parts.csv
lanes="--scheme moreau-midpoint --step 0.01 --vary Gamma=1.2:1.5:100 --observe x --observe impacts --lanes on --quiet --out"
"$carom" sweep table.yaml $lanes lanes.csv
mpirun -n 2 "$carom" sweep table.yaml $lanes lanes2.csv
cmp lanes.csv lanes2.csv
# Ranks of one machine take turns at its cards, of which the stand-in for nvcc has two.
stub=$here/cuda_stub/nvcc
gpu="--scheme moreau-midpoint --step 0.01 --vary Gamma=1.2:1.5:100 --observe x --observe impacts --gpu --quiet --out"
rm -f cards
CAROM_NVCC=$stub mpirun -n 3 env CUDA_STUB_CARDS="$PWD/cards" "$carom" sweep table.yaml $gpu gpu3.csv
cmp lanes.csv gpu3.csv
[ "$(sort -u cards | tr '\n' ' ')" = "0 1 " ]

# A rank dies once the journal holds rows: the others end, what was computed is there, and the sweep goes on.
runs=200 transient=300
sweep whole env
dies='if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = "$WHO" ]; then (until [ "$(wc -c <$OUT.csv.journal)" -gt 4000 ]; do sleep 0.02; done; kill -9 $$) 2>/dev/null & fi; exec "$@"'
for WHO in 0 2; do
    export WHO OUT=dead$WHO
    code=0
    sweep dead$WHO mpirun -n 3 sh -c "$dies" sh 2>said || code=$?
    [ $code != 0 ]
    grep -q "signal 9" said # mpirun says which rank
    [ $WHO = 0 ] || grep -q "of 200 runs are saved; continue with: carom sweep --resume dead2.csv" said
    [ ! -e dead$WHO.csv ]
    mpirun -n 3 "$carom" sweep --resume dead$WHO.csv >said 2>&1
    grep -q "runs are already done" said
    same whole dead$WHO
done
