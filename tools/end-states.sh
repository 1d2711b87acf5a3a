#!/usr/bin/env bash
# A table of end states: every shipped model with every scheme, a short run each, one line each.
#
# usage: tools/end-states.sh CAROM [PATTERN [SCHEMES]] >TABLE     CAROM: the program; PATTERN, SCHEMES: models and schemes to run, default all
#
# A line is: model, scheme, exit status, checksum of all rows in full precision, last row (or the message of a run that failed).
# A change that must not change results is checked with the tables of before and after: `diff before after` is empty.
# The whole table takes some minutes.  A run takes STEPS steps and covers the first PART of what the model simulates.
set -euo pipefail
export LC_ALL=C
STEPS=${STEPS:-60} PART=${PART:-0.2}
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
carom=$(realpath "$1") pattern=${2:-*}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work" # messages name models without their folder
schemes=${3:-$("$carom" schemes | awk 'NR > 1 && NF == 0 { exit } NR > 1 && /^[a-z]/ { print $1 }')}
for model in "$source"/models/$pattern.yaml; do
    name=$(basename "$model")
    cp "$model" "$name"
    end=$(sed -n 's/^simulation:.*[ {]end: *\([^,}]*\).*/\1/p' "$name")
    read -r end step < <(awk -v end="$end" -v part="$PART" -v steps="$STEPS" 'BEGIN { printf "%.17g %.17g\n", end*part, end*part/steps }')
    for scheme in $schemes; do
        status=0
        timeout 300 "$carom" run "$name" --scheme "$scheme" --step "$step" --end "$end" --every 1 --out rows.csv --quiet >message 2>&1 || status=$?
        touch rows.csv rows.csv.events.csv
        last=$(tail -n 1 rows.csv)
        [ "$status" = 0 ] || [ "$status" = 3 ] || last=$(tail -n 1 message) # 3: checks of the whole run fail in a short one
        sum=$(cat rows.csv rows.csv.events.csv | sha256sum | cut -c 1-16)
        printf '%s %s %s %s %s\n' "${name%.yaml}" "$scheme" "$status" "$sum" "$last"
        rm -f rows.csv rows.csv.events.csv message
    done
done
