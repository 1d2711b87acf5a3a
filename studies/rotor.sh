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
draw rotor.gp "picture='rotor.png'"
