#!/usr/bin/env bash
# The rotor of the half-explicit paper: journal orbits of the half-explicit scheme with shortened impulsive steps and of Moreau's scheme, and the
# computing time that both need for the same error of the journal.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"
model=$models/rotor.yaml
half=half-explicit:active=predicted:impulsive-step=0.1
moreau=moreau-explicit:forces=end

run() { # NAME OPTIONS...: rows, and a row of the table
    "$carom" run "$model" --json --out "$1.csv" "${@:2}" >"$1.json" 2>complaints.txt || (($? == 3))
    awk -F, -v name="$1" -f "$studies/rotor-row.awk" "$1.json" "$1.csv"
}

echo "| | steps | impulsive | journal y at 0.15 s | journal z | penetration | impacts |"
echo "|---|---|---|---|---|---|---|"
run half-explicit --step 5e-6 --every 20
run moreau-5e-6 --step 5e-6 --every 20 --scheme moreau-explicit --option forces=end
run moreau-1e-6 --step 1e-6 --every 100 --scheme moreau-explicit --option forces=end
run located --step 1e-4 --scheme auto --every 1
echo

# Where in a step an impact falls is chance, and so is much of the error: every error is the geometric mean of five neighbouring steps.
steps() { # BASE...
    awk 'BEGIN { for (i = 1; i < ARGC; ++i) for (k = 0; k < 5; ++k) printf "%s%.3g", (i + k > 1 ? "," : ""), ARGV[i]*(1 - 0.03*k) }' "$@"
}
compare "$model" --schemes $half,$moreau --steps "$(steps 5e-6 2.5e-6 1.25e-6)" --of journal.y,journal.z --reference auto:1e-5 --threads 1 --csv errors.csv
awk -F, -v end=0.15 -f "$studies/rotor-work.awk" errors.csv >work.csv
echo "| scheme | step | mean error (m) | CPU time (s) |"
echo "|---|---|---|---|"
awk -F, 'NR > 1 { printf "| %s | %s | %.2e | %.3f |\n", $1, $2, $3, $4 }' work.csv
echo
awk -F, -v a=$half -v b=$moreau -f "$studies/rotor-equal.awk" work.csv
echo
awk -F, -v a=$half -v b=$moreau '$1 == a && $2 == 5e-6 { x = $4 } $1 == b && $2 == 1.25e-6 { y = $4*1.25 } END { printf "against moreau-explicit at 1e-6: %.2f\n", x/y }' work.csv
echo

# Flywheel, journal and bearing as bodies mounted bilaterally; contacts closed below 1e-8 m.
echo "| bodies, step 5e-6 | closed below (m) | journal y at 0.15 s | journal z | drift of the mounts | time per step (us) |"
echo "|---|---|---|---|---|---|"
while read -r closed scheme options; do
    # shellcheck disable=SC2086 # options are words
    "$carom" run "$studies/rotor-bodies.yaml" --set closed=$closed --scheme $scheme $options --json --every 100 --out bodies.csv >bodies.json 2>complaints.txt
    echo "| $scheme | $closed | $(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i } END { printf "%.4e | %.4e", $column["journal.y"], $column["journal.z"] }' bodies.csv) | $(
        awk -F'[:,]' '/"drift":/ { d = $2 } /"ns_per_step":/ { n = $2 } END { printf "%.1e | %.1f", d, n/1e3 }' bodies.json) |"
done <<'END'
0 half-explicit --option active=predicted --option impulsive-step=0.1
1e-8 half-explicit --option active=predicted --option impulsive-step=0.1
0 moreau-explicit --option forces=end
1e-8 moreau-explicit --option forces=end
END
echo

# Which parameter makes the journal whirl forward?  Turns of the journal in the bearing, and of the axle, from 0.1 to 0.15 s.
"$carom" sweep "$studies/rotor-bodies.yaml" --vary u=0,1e-5,1e-4,3e-4 --transient 0.1 --observe 'integral(whirl)/(2*pi)' --observe "integral(axle.start.rx')/(2*pi)" \
    --observe 'max(bearing.gap)' --out whirl.csv --quiet
"$carom" sweep "$studies/rotor-bodies.yaml" --vary mu=0.3,0.6 --transient 0.1 --observe 'integral(whirl)/(2*pi)' --observe "integral(axle.start.rx')/(2*pi)" \
    --observe 'max(bearing.gap)' --out friction.csv --quiet
"$carom" sweep "$studies/rotor-bodies.yaml" --vary T_F=0,1 --transient 0.1 --observe 'integral(whirl)/(2*pi)' --observe "integral(axle.start.rx')/(2*pi)" \
    --observe 'max(bearing.gap)' --out failure.csv --quiet
echo "| changed | turns of the journal | of the axle | largest gap (um) |"
echo "|---|---|---|---|"
awk -F, 'FNR == 1 { name = $2; next } { printf "| %s = %g | %.2f | %.2f | %.1f |\n", name, $2, $5^2 < 25e-6 ? 0 : $5, $6, $7^2 < 25e-16 ? 0 : 1e6*$7 }' whirl.csv friction.csv failure.csv
draw rotor.gp "picture='rotor.png'"
