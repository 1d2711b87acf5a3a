#!/usr/bin/env bash
# Acceleration against velocity level: drift of closed gaps, and energy, on the slider-crank and the ball in a box.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"

for scheme in half-explicit-acceleration half-explicit; do
    simulate "$models/slider-crank-frictionless.yaml" --scheme $scheme --step 1e-4 --end 0.15 --every 1 --out crank-$scheme.csv
    simulate "$models/ball-in-box.yaml" --scheme $scheme --step 5e-3 --end 3 --every 1 --out box-$scheme.csv
done
simulate "$models/slider-crank-frictionless.yaml" --scheme half-explicit-rk --option order=4 --step 1e-6 --end 0.15 --every 100 --out crank-fine.csv

table() { # FILE CONTACT FROM TO HEADING: a row per scheme
    echo "| $5 | gap at $3 s | gap at $4 s | mean gap velocity | largest penetration | energy at the end | largest gain in a step |"
    echo "|---|---|---|---|---|---|---|"
    for scheme in half-explicit-acceleration half-explicit; do
        echo "| $scheme | $(awk -F, -v contact="$2" -v from="$3" -v to="$4" -f "$studies/drift.awk" "$1-$scheme.csv") |"
    done
    echo
}
table crank corner1 0.010 0.014 "slider-crank, corner 1"
table box left 2 3 "box, left wall"
table box ground 2 3 "box, ground"

draw drift-crank.gp "picture='drift-crank.png'"
draw drift-box.gp "picture='drift-box.png'"
