#!/usr/bin/env bash
# The flexible rotating beam against an obstacle: fall, first impacts, schemes, step sizes, 4 and 64 elements.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"
beam=$models/rotating-beam.yaml

# The first impacts, with located events.
simulate "$beam" --scheme mixed --option order=5 --step 1e-6 --end 0.3315 --every 100 --out fine.csv
echo "| impact | time | velocity before | impulse |"
echo "|---|---|---|---|"
awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i }
    $column["kind"] == "impact" { printf "| %d | %.10f | %.7f | %.8f |\n", ++n, $column["time"], $column["velocity_before"], $column["impulse"] }' fine.csv.events.csv
echo

echo "| elements | scheme | step | error of the tip's x at 0.1 s | 0.2 s | 0.3 s | energy at 0.325 s | first impact | deepest | impacts | energy at 0.4 s | at 1.5 s | Newton iterations per step | most |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
beam() { # CASE ELEMENTS STEP SCHEME [OPTION...]
    local case=$1 n=$2 h=$3 scheme=$4
    shift 4
    local every
    every=$(awk -v h=$h 'BEGIN { print h < 5e-4 ? int(5e-4/h + 0.5) : 1 }')
    simulate "$beam" --scheme $scheme "${@/#/--option=}" --step $h --set n=$n --every $every --json --out $case.csv >$case.json
    echo "| $n | $scheme $* | $h | $(awk -F, -f "$studies/beam-figures.awk" $case.json $case.csv.events.csv $case.csv) |"
}
beam ggl-4 4 5e-4 ggl-alpha rho=0.65
beam ggl-4-large 4 1e-3 ggl-alpha rho=0.65
beam ggl-4-larger 4 4e-3 ggl-alpha rho=0.65
beam ggl-4-small 4 2e-5 ggl-alpha rho=0.65
beam alpha-4 4 5e-4 generalized-alpha rho=0.65
beam alpha-4-large 4 1e-3 generalized-alpha rho=0.65
beam moreau-4 4 5e-4 moreau-jean theta=1
beam moreau-4-large 4 1e-3 moreau-jean theta=1
beam moreau-4-small 4 2e-5 moreau-jean theta=1
beam newmark-4 4 5e-4 newmark gamma=1 beta=0.5625
beam newmark-4-large 4 1e-3 newmark gamma=1 beta=0.5625
beam ggl-64 64 5e-4 ggl-alpha rho=0.65
beam ggl-64-small 64 1e-4 ggl-alpha rho=0.65
beam moreau-64 64 5e-4 moreau-jean theta=1
echo

for options in "moreau-jean theta=0.5" "ggl-alpha rho=0.999"; do # no numerical damping
    read -r scheme option <<<"$options"
    status=0
    "$carom" run "$beam" --scheme $scheme --option $option --out undamped.h5 >undamped.txt 2>&1 || status=$?
    echo "$options, step 5e-4, exit status $status: $(sed -n 's/^carom: \(t = .*\)/\1/p' undamped.txt | head -1)"
done

draw rotating-beam.gp "picture='rotating-beam.png'"
draw rotating-beam-64.gp "picture='rotating-beam-64.png'"
