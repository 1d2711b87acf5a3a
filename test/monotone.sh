#!/usr/bin/env bash
# A step of more bodies costs more instructions: nowhere does their number lead past a size at which the cost of a step drops, as where a
# crossover of cost (docs/limits.md) stands at the wrong place.
#
# usage: monotone.sh CAROM     needs valgrind
set -euo pipefail
export LC_ALL=C
carom=$(realpath "$1")
command -v valgrind >/dev/null || { echo "valgrind is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"

# write N LAW: N columns of two circles on a floor, which may all touch each other
write() {
    cat <<END
carom: 1
gravity: [0, -10]
bodies:
  a: {repeat: $1, index: i, body: {mass: 1, inertia: 0.005, at: [0.5*i, 0.1], velocity: [0.1, 0], spin: 1, shape: {circle: 0.1}}}
  b: {repeat: $1, index: i, body: {mass: 1, inertia: 0.005, at: [0.5*i + 0.02, 0.299], spin: 1, shape: {circle: 0.1}}}
shapes: {floor: {plane: [0, 1]}}
contacts: {c: {among: [a, b, floor], $2}}
END
}

# count SCHEME STEPS: the instructions of a run
count() {
    valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$carom" run model.yaml --scheme "$1" --step 1e-3 --end "$(awk -v n="$2" 'BEGIN { print n*1e-3 }')" \
        --every 1000000 --out rows.csv --force --quiet --compile off 2>&1 | awk '/I +refs:/ { gsub(",", "", $NF); print $NF }'
}

most_drop=0.9 faults=0
rigid="restitution: 0.3, friction: 0.3" soft="stiffness: 1e5, damping: 1, friction: 0.3, stiction speed: 0.1"
for case in "moreau-midpoint $rigid" "moreau-jean $rigid" "newmark $rigid" "newmark $soft"; do
    scheme=${case%% *} before=0 was=0
    sizes="4 6 7 10 11 16 17 20"
    if [ "${case#* }" = "$soft" ]; then sizes="7 10 11 16 17 20"; fi # formulas of compliant pairs cost three times a list (docs/limits.md)
    for n in $sizes; do
        write "$n" "${case#* }" >model.yaml
        few=$(count "$scheme" 5) many=$(count "$scheme" 15)
        now=$(((many - few)/10))
        echo "$scheme, ${case#* }: $n columns: $now"
        if awk -v a="$before" -v b="$now" -v d="$most_drop" 'BEGIN { exit !(b < d*a) }'; then
            echo "a step of $n columns takes $now instructions, of $was $before"
            faults=$((faults + 1))
        fi
        before=$now was=$n
    done
done
exit $((faults > 0))
