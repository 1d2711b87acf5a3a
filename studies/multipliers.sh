#!/usr/bin/env bash
# Contact forces and impulses told apart: the multipliers of the slider-crank and of the ball in a box.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"

for scheme in half-explicit moreau-explicit; do
    simulate "$models/slider-crank-frictionless.yaml" --scheme $scheme --step 1e-4 --end 0.15 --every 1 --out crank-$scheme.csv
    simulate "$models/ball-in-box.yaml" --scheme $scheme --step 5e-3 --end 3 --every 1 --out box-$scheme.csv
done
draw multipliers.gp "picture='multipliers-crank.png'; model='crank'; contacts='corner1 corner3'; end=150; unit=1e3; time='time (ms)'"
draw multipliers.gp "picture='multipliers-box.png'; model='box'; contacts='left ground'; end=1.5; unit=1; time='time (s)'"

# What a contact transmits in all must stop the ball: weight component times time, split into force and impulse.
echo "| ball in a box, t = 0 .. 3 s | sum of impulses | time integral of force | together | weight times time |"
echo "|---|---|---|---|---|"
for scheme in half-explicit moreau-explicit; do
    for contact in left ground; do
        awk -F, -v contact=$contact -v scheme=$scheme -f "$studies/transmitted.awk" box-$scheme.csv
    done
done
echo

# The force in the first lasting contact against the event-driven value, 2.18396860184 N at 12 ms for both corners together.
echo "| slider-crank, both upper corners at 12 ms | force (N) | error | order |"
echo "|---|---|---|---|"
for step in 1e-4 3e-5 1e-5 3e-6 1e-6; do
    simulate "$models/slider-crank-frictionless.yaml" --scheme half-explicit --step $step --end 0.012 --out force.csv
    awk -F, -v step=$step 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i } { last = $column["corner1.force"] + $column["corner2.force"] }
        END { printf "%s %.17g\n", step, last }' force.csv
done | awk '{ e = $2 - 2.18396860184; a = e < 0 ? -e : e
              printf "| half-explicit, step %s | %.7f | %.2e | %s |\n", $1, $2, e, (NR > 1 ? sprintf("%.2f", log(a/before)/log($1/step)) : "")
              before = a; step = $1 }'
