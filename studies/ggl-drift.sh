#!/usr/bin/env bash
# The Gear-Gupta-Leimkuhler paper: drift of a guide held on each level, gaps for four restitutions, energy of the slider-crank with clearance over 4 s.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"

# Figure 6: the guide without clearance, held on one level or on two.
levels=(half-explicit-acceleration half-explicit alpha-index3 ggl-midpoint ggl-alpha)
held=("acceleration level" "velocity level" "position level" "position and velocity" "position and velocity")
echo "| the guide is held on | scheme | y at 1 s | y at 2 s | y at 4 s | largest | velocity left, mean | grows as t^ | energy at 4 s |"
echo "|---|---|---|---|---|---|---|---|---|"
for i in "${!levels[@]}"; do
    metric=()
    if [[ ${levels[i]} == ggl-midpoint ]]; then metric=(--option metric=euclidean); fi
    simulate "$models/slider-crank-bilateral.yaml" --scheme "${levels[i]}" "${metric[@]}" --step 1e-4 --end 4 --every 1 --out guide.csv
    echo "| ${held[i]} | ${levels[i]} | $(awk -F, -f "$studies/guide-drift.awk" guide.csv) |"
    awk 'NR == 1 || (NR - 2) % 20 == 0' guide.csv >"guide-${levels[i]}.csv"
done
# The same on acceleration level, without a scheme for constraints: an ordinary differential equation and plain Runge-Kutta methods.
while read -r case scheme order; do
    simulate "$studies/guide-index-1.yaml" --scheme $scheme --option order=$order --step 1e-4 --end 4 --every 1 --out guide.csv
    echo "| acceleration level, index 1 | $scheme order=$order | $(awk -F, -f "$studies/guide-drift.awk" guide.csv) |"
    awk 'NR == 1 || (NR - 2) % 20 == 0' guide.csv >"guide-index-1-$case.csv"
done <<'END'
2 half-explicit-rk 2
3 half-explicit-rk 3
4 mixed 4
5 half-explicit-rk 5
END
rm -f guide.csv
echo

# Figures 3 and 8: clearance 1 mm, step 1e-5, four restitutions.
model=$models/slider-crank-frictionless.yaml
# The papers' metric throughout: corrections of positions are measured by the coordinates.
echo "| restitution | least gap, moreau-midpoint local=paper (m) | ggl-midpoint active=midpoint local=paper | ggl-midpoint active=midpoint | ggl-midpoint active=end | impacts, ggl-midpoint active=end |"
echo "|---|---|---|---|---|---|"
least_gap() { # RESULT.csv
    awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i ~ /\.gap$/) gap[++n] = i; next }
             { for (i = 1; i <= n; ++i) if ($gap[i] < least) least = $gap[i] } END { printf "%.1e", least }' "$1"
}
for e in 0.1 0.4 0.7 0.9; do
    cells=
    while read -r case scheme options; do
        # shellcheck disable=SC2086 # options are words
        simulate "$model" --set e=$e --scheme $scheme ${options:+--option ${options// / --option }} --step 1e-5 --end 0.15 --every 1 --json --out steps.csv >steps.json
        cells="$cells | $(least_gap steps.csv)"
        awk 'NR == 1 || (NR - 2) % 10 == 0' steps.csv >gap-$case-$e.csv
    done <<'END'
moreau moreau-midpoint local=paper
unified ggl-midpoint active=midpoint local=paper metric=euclidean
exact ggl-midpoint active=midpoint metric=euclidean
end ggl-midpoint active=end metric=euclidean
END
    echo "| $e$cells | $(awk -F'[:,]' '/"impacts":/ { print $2 + 0; exit }' steps.json) |"
done
echo

# Figures 4, 9 and 10: restitution 0.1.
set=(--set e=0.1)
simulate "$model" "${set[@]}" --scheme event-driven --step 1e-4 --end 4 --every 20 --out energy-event-driven.csv
reference=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i } END { print $column["energy"] }' energy-event-driven.csv)
echo "event-driven, energy at 4 s: $reference"
echo
echo "| scheme | energy at 4 s | minus event-driven | deepest, until 0.15 s | sum of gains, until 0.15 s | largest rise above the least, until 0.15 s | CPU time per step, over the first |"
echo "|---|---|---|---|---|---|---|"
energy() { # NAME SCHEME [OPTION...]
    local case=$1 scheme=$2
    shift 2
    local options=("${@/#/--option=}")
    simulate "$model" "${set[@]}" --scheme $scheme "${options[@]}" --step 1e-5 --end 4 --every 200 --json --out energy-$case.csv >$case.json
    simulate "$model" "${set[@]}" --scheme $scheme "${options[@]}" --step 1e-5 --end 0.15 --every 1 --out steps.csv
    awk 'NR == 1 || (NR - 2) % 5 == 0' steps.csv >steps-$case.csv
    local cost
    cost=$(awk -F'[:,]' '/"ns_per_step"/ { print $2 + 0 }' $case.json)
    first=${first:-$cost}
    echo "| $scheme${*:+ $*} | $(awk -F, -v reference="$reference" -v cost="$cost" -v first="$first" -f "$studies/gains.awk" steps.csv energy-$case.csv) |"
}
energy moreau moreau-midpoint local=paper
energy velocity ggl-midpoint active=midpoint local=paper levels=velocity metric=euclidean
energy unified ggl-midpoint active=midpoint local=paper metric=euclidean
energy decoupled ggl-projection active=midpoint local=paper metric=euclidean
energy exact ggl-midpoint active=midpoint metric=euclidean
energy implicit ggl-midpoint active=end metric=euclidean
energy velocity-exact ggl-midpoint active=midpoint levels=velocity metric=euclidean
energy alpha ggl-alpha
rm -f steps.csv

draw ggl-drift.gp "picture='ggl-drift.png'"
draw ggl-energy.gp "picture='ggl-energy.png'"
draw ggl-gaps.gp "picture='ggl-gaps.png'"
draw ggl-restitution.gp "picture='ggl-restitution.png'"
