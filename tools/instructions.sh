#!/usr/bin/env bash
# Instructions per step of two programs: every shipped model with every scheme, one line each.
#
# usage: tools/instructions.sh OLD NEW [PATTERN [SCHEMES]] >TABLE     OLD, NEW: programs; PATTERN, SCHEMES: models and schemes to run, default all
#
# A line is: model, scheme, instructions per step of OLD, of NEW, and their ratio NEW/OLD; '-' where a program refuses the scheme or fails.
# Every program runs a TENTH of the model's own steps and then HALF of them, and MOST at most.  The difference is what the steps take: reading, derivation and output cancel.
# Unlike times, instructions do not depend on what else the computer does.  Models are evaluated by the tape.  MODELS: their folder.  Needs valgrind.
set -euo pipefail
export LC_ALL=C
TENTH=${TENTH:-0.1} HALF=${HALF:-0.5} MOST=${MOST:-10000}
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
old=$(realpath "$1") new=$(realpath "$2") pattern=${3:-*} models=$(realpath "${MODELS:-$source/models}")
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
schemes=${4:-$("$new" schemes | awk 'NR > 1 && NF == 0 { exit } NR > 1 && /^[a-z]/ { print $1 }')}

# count PROGRAM MODEL SCHEME STEP STEPS: the instructions of one run; nothing when the run fails.
count() {
    local end status=0 compile=()
    end=$(awk -v step="$4" -v steps="$5" 'BEGIN { printf "%.17g\n", step*steps }')
    if "$1" run --help | grep -q -- --compile; then compile=(--compile off); fi
    rm -f rows.csv*
    timeout 600 valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$1" run "$2" --scheme "$3" --step "$4" --end "$end" --every 1000000 \
        --out rows.csv --quiet "${compile[@]}" >message 2>&1 || status=$?
    if [ "$status" = 0 ] || [ "$status" = 3 ]; then awk '/I +refs:/ { gsub(",", "", $NF); print $NF }' message; fi # 3: checks of the whole run fail in a short one
}

# per_step PROGRAM MODEL SCHEME STEP FEW MANY
per_step() {
    local few many
    few=$(count "$1" "$2" "$3" "$4" "$5")
    if [ -n "$few" ]; then many=$(count "$1" "$2" "$3" "$4" "$6"); fi
    if [ -n "${many:-}" ]; then awk -v a="$few" -v b="$many" -v n=$(($6 - $5)) 'BEGIN { printf "%.0f\n", (b - a)/n }'; else echo -; fi
}

for model in "$models"/$pattern.yaml; do
    name=$(basename "$model" .yaml)
    step=$(sed -n 's/^simulation:.*[ {]step: *\([^,}]*\).*/\1/p' "$model")
    end=$(sed -n 's/^simulation:.*[ {]end: *\([^,}]*\).*/\1/p' "$model")
    step=${step:-1e-4}
    read -r few many < <(awk -v n="$end" -v h="$step" -v a="$TENTH" -v b="$HALF" -v most="$MOST" 'BEGIN { n /= h; if (n*b > most) n = most/b; printf "%d %d\n", n*a, n*b }')
    for scheme in $schemes; do
        before=$(per_step "$old" "$model" "$scheme" "$step" "$few" "$many")
        [ "$before" = - ] && after=- || after=$(per_step "$new" "$model" "$scheme" "$step" "$few" "$many")
        awk -v m="$name" -v s="$scheme" -v a="$before" -v b="$after" 'BEGIN { printf "%s %s %s %s %s\n", m, s, a, b, a == "-" || b == "-" ? "-" : sprintf("%.3f", b/a) }'
    done
done
