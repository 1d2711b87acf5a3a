#!/usr/bin/env bash
# Work and precision of all schemes on the papers' examples, and on a closed phase with friction.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"

frictionless=half-explicit-acceleration,schatzman-paoli
all=half-explicit,half-explicit-rk,moreau-jean,moreau-explicit,moreau-midpoint,moreau-dissipative,ggl-projection,ggl-midpoint,ggl-alpha,alpha-forces,alpha-forces:locate=yes,newmark,hht,generalized-alpha,dg-plus,dg-minus
located=mixed,splitting,splitting:adaptive=on,auto,event-driven
tolerances=1e-3,1e-5,1e-7,1e-9

work() { # NAME MODEL SCHEMES STEPS NORM ARGUMENTS...: NAME.csv; a scheme that fails with a step has no error there
    "$carom" compare "$2" --schemes "$3" --steps "$4" --norm $5 --csv "$1.csv" --threads 1 --quiet "${@:6}" 2>complaints.txt || test -s "$1.csv"
}
crank=$models/slider-crank.yaml
work crank "$crank" $all,$located 1e-3,3e-4,1e-4,3e-5,1e-5,3e-6 linf --of th2 --end 0.05 --reference mixed:order=6:1e-6 --tolerances $tolerances
work bowl "$studies/bowl.yaml" $all,$located 2e-2,1e-2,5e-3,2e-3,1e-3,5e-4 linf --of x --reference mixed:order=6:1e-4 --tolerances $tolerances
work pendulum "$models/pendulum.yaml" $all,$frictionless,$located 1e-1,3e-2,1e-2,3e-3,1e-3 l1 --of th --end 3 --reference mixed:order=6:1e-4 --tolerances $tolerances
work block "$models/rocking-block.yaml" $all,$located 1e-2,3e-3,1e-3,3e-4,1e-4 l1 --reference mixed:order=6:1e-4 --tolerances $tolerances
work oscillator "$models/impacting-oscillator.yaml" $all,$frictionless,$located 1e-1,4e-2,1e-2,4e-3,1e-3 l1 --tolerances $tolerances
work ball "$models/bouncing-ball.yaml" $all,$frictionless,$located 1e-1,4e-2,1e-2,4e-3,1e-3 l1 --tolerances $tolerances
work bar "$models/bouncing-bar.yaml" moreau-jean,moreau-dissipative,ggl-midpoint,ggl-alpha,alpha-forces,newmark,hht,generalized-alpha,half-explicit 2e-2,1e-2,5e-3,2e-3 l1 --set n=50

echo "Microseconds of CPU time until the error is below 1e-3 and 1e-5:"
echo
awk -F, -v bounds="1e-3 1e-5" -f "$studies/choosing.awk" crank.csv bowl.csv pendulum.csv block.csv oscillator.csv ball.csv

echo
echo "Least error of a scheme with constant steps, and its order by least squares, a closed phase with friction (bowl) and impacts (crank, pendulum, block):"
echo
echo "| scheme | bowl | order | crank | order | pendulum | order | block | order |"
echo "|---|---|---|---|---|---|---|---|---|"
IFS=, read -ra schemes <<<"$all,mixed,splitting"
for scheme in "${schemes[@]}"; do
    row="| $scheme |"
    for model in bowl crank pendulum block; do
        row="$row $(awk -F, -v s="$scheme" '$1 == s && $3 != "" && $3 + 0 > 0' $model.csv | awk -F, -f "$studies/orders.awk" | awk -F, '{ printf "%s | %s |", $2, $3; n = 1 } END { if (!n) printf "- | - |" }')"
    done
    echo "$row"
done
rm -f complaints.txt
draw all-schemes.gp "picture='all-schemes.png'" 2>/dev/null # schemes that decline a model have no points
