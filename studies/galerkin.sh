#!/usr/bin/env bash
# Convergence analyses of the Galerkin paper: free flight, rest phase, and both with an accumulation of impacts.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"

low="moreau-jean:theta=1 moreau-jean:theta=0 dg-minus:order=1 dg-plus:order=1"
schemes="$low dg-minus:order=2 dg-plus:order=2 dg-minus:order=3 dg-plus:order=3 dg-minus:order=4 dg-plus:order=4"

steps() { # END N...: END/N to full precision
    awk 'BEGIN { for (i = 2; i < ARGC; ++i) printf "%s%.17g", (i > 2 ? "," : ""), ARGV[1]/ARGV[i] }' "$@"
}

# The interaction as recorded is of second order at best (see interaction.awk): only schemes of orders 1 and 2 are asked for it.
interactions() { # PROBLEM MODEL END STEPS
    local scheme step
    for scheme in $low; do
        for step in ${4//,/ }; do
            simulate "$2" --scheme "${scheme%%:*}" --option "${scheme#*:}" --step "$step" --end "$3" --every 1 --out run.csv
            awk -F, -v problem="$1" -v scheme="$scheme" -v step="$step" -f "$studies/interaction.awk" run.csv
        done
    done
}

analyse() { # PROBLEM MODEL END N...
    local problem=$1 model=$2 end=$3 at list
    shift 3
    at=$(steps "$end" "$@")
    list=${schemes// /,}
    compare "$model" --end "$end" --reference exact --schemes "$list" --steps "$at" --of q --csv "$problem-q.csv"
    compare "$model" --end "$end" --reference exact --schemes "$list" --steps "$at" --of "q'" --csv "$problem-v.csv"
    interactions "$problem" "$model" "$end" "$at" >"$problem-i.csv"
    for what in q v i; do awk -F, -f "$studies/orders.awk" "$problem-$what.csv" >"$problem-$what.orders"; done
    echo "$problem, N = $*"
    echo
    echo "| scheme | q | order | v | order | i | order |"
    echo "|---|---|---|---|---|---|---|"
    paste -d, "$problem-q.orders" "$problem-v.orders" "$problem-i.orders" |
        awk -F, '{ printf "| %s | %s | %s | %s | %s | %s | %s |\n", $1, $2, $3, $5, $6, (NF < 9 ? "-" : $8), (NF < 9 ? "-" : $9) }'
    echo
    if [[ $problem == load ]]; then return; fi
    draw galerkin.gp "picture='galerkin-$problem.png'; problem='$problem'"
}

analyse flight "$studies/flight.yaml" 1 11 23 47 97 197 397 797
analyse load "$studies/load.yaml" 1 3 5 9 17 33 67
analyse rest "$studies/rest.yaml" 1 11 23 47 97 197 397 797
analyse combined "$models/bouncing-ball.yaml" 4 41 83 167 331 661 1327 2647 5297
