#!/usr/bin/env bash
# Empirical orders of Moreau's and Schatzman and Paoli's schemes on the bouncing ball and the linear oscillator, in the norms of the lecture.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"

# Steps are END/N with N prime, so that no step ends on an impact of the ball.
primes="41 83 167 331 661 1327 2647"
schemes="moreau-jean:theta=0.5 moreau-jean:theta=1 schatzman-paoli schatzman-paoli:theta=0 schatzman-paoli:theta=0.5 schatzman-paoli:theta=1"
norms="l1 l2 l4 hausdorff"

for problem in ball oscillator; do
    if [[ $problem == ball ]]; then model=$models/bouncing-ball.yaml end=4; else model=$models/impacting-oscillator.yaml end=10; fi
    steps=$(awk -v end=$end 'BEGIN { for (i = 1; i < ARGC; ++i) printf "%s%.17g", (i > 1 ? "," : ""), end/ARGV[i] }' $primes)
    for what in q v; do
        of=q
        if [[ $what == v ]]; then of="q'"; fi
        for norm in $norms; do
            compare "$model" --end $end --reference exact --schemes "${schemes// /,}" --steps "$steps" --of "$of" --norm $norm --csv $problem-$what-$norm.csv
            awk -F, -f "$studies/orders.awk" $problem-$what-$norm.csv >$problem-$what-$norm.orders
        done
        echo "| $problem, ${of} | l1 | order | l2 | order | l4 | order | hausdorff | order |"
        echo "|---|---|---|---|---|---|---|---|---|"
        paste -d, $problem-$what-{l1,l2,l4,hausdorff}.orders | awk -F, '{ printf "| %s |", $1; for (i = 2; i <= NF; i += 3) printf " %s | %s |", $i, $(i + 1); print "" }'
        echo
    done
done

draw empirical-orders.gp "picture='orders-moreau.png'; scheme='moreau-jean:theta=0.5'"
draw empirical-orders.gp "picture='orders-schatzman-paoli.png'; scheme='schatzman-paoli'"
