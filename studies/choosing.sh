#!/usr/bin/env bash
# Choosing a scheme: CPU time until an error is reached on three models, and what each scheme leaves in a mechanism with joints.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"

stepping=half-explicit,half-explicit-rk,moreau-explicit,moreau-midpoint,moreau-jean,ggl-projection,ggl-midpoint,ggl-alpha,alpha-forces,alpha-forces:locate=yes,newmark,generalized-alpha
located=mixed,splitting:adaptive=on,auto,event-driven
tolerances=1e-3,1e-5,1e-7,1e-9

work() { # MODEL STEPS ARGUMENTS...: MODEL.csv
    compare "$models/$1.yaml" --norm linf --schemes $stepping,$located --tolerances $tolerances --csv "$1.csv" --threads 1 --steps "$2" "${@:3}"
}
work slider-crank 1e-3,3e-4,1e-4,3e-5,1e-5,3e-6 --of th2 --reference mixed:order=6:1e-6 --plot choosing.png
work impacting-oscillator 1e-1,3e-2,1e-2,3e-3,1e-3
work bouncing-ball 1e-1,3e-2,1e-2,3e-3,1e-3

echo "Microseconds of CPU time until the largest error is below 1e-2, 1e-3 and 1e-6:"
echo
awk -F, -f "$studies/choosing.awk" slider-crank.csv impacting-oscillator.csv bouncing-ball.csv

echo
echo "Pendulum with two joints against a wall, step 1e-3, 5 s:"
echo
echo "| scheme | drift | penetration | unaccounted energy, J | ns per step |"
echo "|---|---|---|---|---|"
IFS=, read -ra schemes <<<"$stepping,mixed"
for scheme in "${schemes[@]}"; do
    status=0
    IFS=: read -ra words <<<"$scheme"
    options=("${words[@]:1}")
    "$carom" run "$models/pendulum.yaml" --scheme "${words[0]}" "${options[@]/#/--option=}" --step 1e-3 --end 5 --json --quiet --out pendulum.h5 >pendulum.json 2>complaints.txt || status=$?
    if ((status != 0 && status != 3)); then
        cat complaints.txt >&2
        exit $status
    fi
    awk -v scheme="$scheme" -F'[:,]' '/"drift":/ { d = $2 } /"penetration":/ { p = $2 } /"ns_per_step":/ { n = $2 }
        match($0, /"balance": [-+0-9.e]+/) { b = substr($0, RSTART + 11, RLENGTH - 11) }
        END { printf "| %s | %.1e | %.1e | %.1e | %.0f |\n", scheme, d, p, b, n }' pendulum.json
done
