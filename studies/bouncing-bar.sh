#!/usr/bin/env bash
# The bouncing bar of the generalized-alpha papers against its exact solution: schemes, meshes, kinds of mass.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"
bar=$models/bouncing-bar.yaml

run() { # CASE MODEL STEP ELEMENTS SCHEME [OPTION...]: CASE.csv and its figures in CASE.figures
    local case=$1 model=$2 h=$3 n=$4 scheme=$5
    shift 5
    simulate "$model" --scheme "$scheme" "${@/#/--option=}" --step "$h" --set n=$n --every 1 --out $case.csv
    awk -F, -v h="$h" -f "$studies/bounce.awk" $case.csv >$case.figures
}
cells() { # CASE NAME...: cells of a Markdown row
    local case=$1 name
    shift
    for name in "$@"; do awk -v name="$name" '$1 == name { printf " %s |", $2 }' $case.figures; done
}

echo "| 200 elements, step 2e-3 | energy at 1.5 s | its most | deepest | largest error of the gap | force, 0.6 to 1.1 s | its deviation | velocity at the wall meanwhile | last contact | velocity back |"
echo "|---|---|---|---|---|---|---|---|---|---|"
echo "| exact | 500 | 500 | 0 | 0 | 300 | 0 | 0 | 1.1672 | 10 |"
while read -r case scheme options; do
    # shellcheck disable=SC2086 # options are words
    run $case "$bar" 2e-3 200 $scheme $options
    echo "| $scheme${options:+ $options} |$(cells $case energy most deepest gap_error force deviation rate last back)"
done <<'END'
ggl ggl-alpha
moreau moreau-jean theta=0.55555555555555556
index3 alpha-index3 impacts=ignore
newmark newmark
newmark-damped newmark gamma=1 beta=0.5625
hht hht
alpha generalized-alpha
euler moreau-jean theta=1
midpoint ggl-midpoint active=end metric=euclidean
END
echo

# Mesh and step refined together, h = 0.39/n: the Courant number stays 1.17, and no step ends at the exact impact.
for scheme in ggl-alpha newmark hht generalized-alpha moreau-jean moreau-dissipative; do
    options=()
    if [[ $scheme == moreau-jean ]]; then options=(theta=0.55555555555555556); fi
    for n in 50 100 200 400 800 1600; do
        h=$(awk -v n=$n 'BEGIN { print 0.39/n }')
        run refined "$bar" "$h" $n $scheme "${options[@]}"
        awk -v scheme=$scheme -v n=$n '{ value[$1] = $2 }
            END { printf "%s,%d,%.6g,%.6g,%.6g,%.6g,%.6g\n", scheme, n, value["duration"] - 2/3, value["transmitted"] - 200, value["back"] - 10, value["gap_error"], 500 - value["energy"] }' refined.figures
    done
done >mesh.csv
rm -f refined.*
awk -F, -f "$studies/mesh.awk" mesh.csv
echo

echo "| kind of mass, 200 elements | scheme | impulse of the impact | energy at 1.5 s | its most | deepest | force, 0.6 to 1.1 s | its deviation | velocity back |"
echo "|---|---|---|---|---|---|---|---|---|"
for mass in consistent lumped redistributed; do
    word="mass: $mass"
    if [[ $mass == redistributed ]]; then word="massless: start"; fi
    sed "s/area: 1, rate/area: 1, $word, rate/" "$bar" >$mass.yaml
    while read -r scheme options; do
        if [[ $mass == redistributed && $scheme != moreau-dissipative && $scheme != ggl-midpoint ]]; then continue; fi
        # shellcheck disable=SC2086
        run $mass-$scheme $mass.yaml 2e-3 200 $scheme $options
        echo "| $mass | $scheme${options:+ $options} |$(cells $mass-$scheme impulse energy most deepest force deviation back)"
    done <<'END'
moreau-dissipative
ggl-midpoint active=end metric=euclidean
ggl-alpha
moreau-jean theta=0.55555555555555556
alpha-index3 impacts=ignore
END
done
echo

draw bouncing-bar.gp "picture='bouncing-bar.png'"
draw bouncing-mesh.gp "picture='bouncing-mesh.png'"
draw bouncing-mass.gp "picture='bouncing-mass.png'"
