#!/usr/bin/env bash
# Table 2 of the half-explicit paper: slider-crank without clearance against the mechanism with a bilateral guide.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"

mechanism=("$models/slider-crank-frictionless.yaml" --set c=0 --end 0.1 --of th1,th2 --norm matrix --reference guide.h5)
simulate "$models/slider-crank-bilateral.yaml" --scheme half-explicit-rk --option order=4 --step 1e-6 --end 0.1 --every 10 --out guide.h5

schemes=moreau-explicit,half-explicit,half-explicit-acceleration,half-explicit-rk:order=3,dg-minus:order=1,dg-plus:order=1
for closed in strict nonstrict; do
    compare "${mechanism[@]}" --option closed=$closed --schemes $schemes --steps 1e-3,1e-4,1e-5 --csv $closed.csv
    echo "closed=$closed"
    echo
    awk -F, -v table=2 -f "$studies/beside.awk" "$studies/paper-tables.csv" $closed.csv
    echo
done

compare "${mechanism[@]}" --option closed=strict --schemes moreau-explicit,half-explicit --steps 1e-5,3e-6 --threads 1 --csv cost.csv
echo "cost per step, half-explicit over moreau-explicit: $(awk -F, -f "$studies/cost.awk" cost.csv)"

compare "${mechanism[@]}" --option closed=strict --schemes $schemes --steps 1e-3,5.6e-4,3.1e-4,1.8e-4,1e-4,5.6e-5,3.1e-5,1.8e-5,1e-5 --csv curve.csv
draw tables.gp "table=2; picture='table-2.png'; schemes='${schemes//,/ }'; paper='$studies/paper-tables.csv'"
