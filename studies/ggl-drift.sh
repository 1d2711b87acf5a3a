#!/usr/bin/env bash
# The Gear-Gupta-Leimkuhler paper: drift of a guide held on each level, energy of the slider-crank with clearance over 4 s.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"

# Figure 6: the guide without clearance, held on one level or on two.
levels=(half-explicit-acceleration half-explicit alpha-index3 ggl-midpoint ggl-alpha)
held=("acceleration level" "velocity level" "position level" "position and velocity" "position and velocity")
echo "| the guide is held on | scheme | y at 1 s | y at 2 s | y at 4 s | largest | velocity left, mean | grows as t^ | energy at 4 s |"
echo "|---|---|---|---|---|---|---|---|---|"
for i in "${!levels[@]}"; do
    simulate "$models/slider-crank-bilateral.yaml" --scheme "${levels[i]}" --step 1e-4 --end 4 --every 1 --out guide.csv
    echo "| ${held[i]} | ${levels[i]} | $(awk -F, -f "$studies/guide-drift.awk" guide.csv) |"
    awk 'NR == 1 || (NR - 2) % 20 == 0' guide.csv >"guide-${levels[i]}.csv"
done
rm -f guide.csv
echo

# Figures 3, 4, 8, 9 and 10: clearance 1 mm, restitution 0.1, step 1e-5.
sed 's/restitution: 0.4/restitution: 0.1/' "$models/slider-crank-frictionless.yaml" >crank.yaml
simulate crank.yaml --scheme event-driven --step 1e-4 --end 4 --every 20 --out energy-event-driven.csv
reference=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i } END { print $column["energy"] }' energy-event-driven.csv)
echo "event-driven, energy at 4 s: $reference"
echo
echo "| scheme | energy at 4 s | minus event-driven | deepest, until 0.15 s | sum of gains, until 0.15 s | largest rise above the least, until 0.15 s | CPU time per step, over the first |"
echo "|---|---|---|---|---|---|---|"
energy() { # NAME SCHEME [OPTION...]
    local case=$1 scheme=$2
    shift 2
    local options=("${@/#/--option=}")
    simulate crank.yaml --scheme $scheme "${options[@]}" --step 1e-5 --end 4 --every 200 --json --out energy-$case.csv >$case.json
    simulate crank.yaml --scheme $scheme "${options[@]}" --step 1e-5 --end 0.15 --every 1 --out steps.csv
    awk 'NR == 1 || (NR - 2) % 5 == 0' steps.csv >steps-$case.csv
    local cost
    cost=$(awk -F'[:,]' '/"ns_per_step"/ { print $2 + 0 }' $case.json)
    first=${first:-$cost}
    echo "| $scheme${*:+ $*} | $(awk -F, -v reference="$reference" -v cost="$cost" -v first="$first" -f "$studies/gains.awk" steps.csv energy-$case.csv) |"
}
energy moreau moreau-midpoint local=paper
energy velocity ggl-midpoint local=paper levels=velocity
energy unified ggl-midpoint local=paper
energy decoupled ggl-projection local=paper
energy exact ggl-midpoint
energy implicit ggl-midpoint active=end
energy velocity-exact ggl-midpoint levels=velocity
energy alpha ggl-alpha
rm -f steps.csv

draw ggl-drift.gp "picture='ggl-drift.png'"
draw ggl-energy.gp "picture='ggl-energy.png'"
draw ggl-gaps.gp "picture='ggl-gaps.png'"
