#!/usr/bin/env bash
# Table 3 of the half-explicit paper: slider-crank with clearance, impacts and friction against half-explicit at 1e-7.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"

mechanism=("$models/slider-crank.yaml" --end 0.1 --norm matrix)
schemes=moreau-explicit,half-explicit,half-explicit-rk:order=3
compare "${mechanism[@]}" --reference half-explicit:1e-7 --schemes $schemes --steps 1e-3,1e-4,1e-5 --csv table.csv
awk -F, -v table=3 -f "$studies/beside.awk" "$studies/paper-tables.csv" table.csv
echo

for friction in with without; do
    model=$models/slider-crank.yaml
    if [[ $friction == without ]]; then model=$models/slider-crank-frictionless.yaml; fi
    compare "$model" --end 0.1 --norm matrix --reference half-explicit:1e-6 --schemes moreau-explicit,half-explicit --steps 1e-5,3e-6 --threads 1 \
        --csv cost-$friction.csv
    echo "cost per step $friction friction, half-explicit over moreau-explicit: $(awk -F, -f "$studies/cost.awk" cost-$friction.csv)"
done
echo

# How much the entry at 1e-3 depends on the step, and on what a paper need not print.
compare "${mechanism[@]}" --reference half-explicit:1e-6 --schemes moreau-explicit,moreau-explicit:closed=strict,moreau-jean:theta=0,half-explicit \
    --steps 1.1e-3,1.05e-3,1e-3,0.95e-3,0.9e-3 --csv near.csv
echo "| step | moreau-explicit | closed=strict | moreau-jean:theta=0 | half-explicit |"
echo "|---|---|---|---|---|"
awk -F, 'NR > 1 { if (!($2 in seen)) { seen[$2] = 1; step[++n] = $2 } e[$1, $2] = $3 }
         END { for (i = 1; i <= n; ++i) printf "| %g | %.3f | %.3f | %.3f | %.3f |\n", step[i], e["moreau-explicit", step[i]],
                   e["moreau-explicit:closed=strict", step[i]], e["moreau-jean:theta=0", step[i]], e["half-explicit", step[i]] }' near.csv
echo

echo "| end | moreau-explicit 1e-3 | 1e-4 | 1e-5 | half-explicit 1e-3 | 1e-4 | 1e-5 |"
echo "|---|---|---|---|---|---|---|"
for end in 0.07 0.085 0.1 0.115; do
    compare "$models/slider-crank.yaml" --end $end --norm matrix --reference half-explicit:1e-7 --schemes moreau-explicit,half-explicit --steps 1e-3,1e-4,1e-5 --csv end.csv
    awk -F, -v end=$end 'NR > 1 { e[$1, $2 + 0] = $3 }
        END { m = "moreau-explicit"; h = "half-explicit"; printf "| %s | %.3e | %.3e | %.3e | %.3e | %.3e | %.3e |\n", end, e[m, 1e-3], e[m, 1e-4], e[m, 1e-5], e[h, 1e-3], e[h, 1e-4], e[h, 1e-5] }' end.csv
done
echo

# Moreau's scheme once more, by a program of its own, with all that the paper leaves open.
if type -P "${CC:-cc}" >/dev/null; then
    "${CC:-cc}" -std=c17 -O2 "$studies/table-3-variants.c" -lm -o variants
    simulate "$models/slider-crank.yaml" --scheme half-explicit --step 1e-7 --end 0.101 --every 100 --out reference.csv
    ./variants <reference.csv
    rm -f reference.csv
else
    echo "$name: no C compiler, no variants" >&2
fi

compare "${mechanism[@]}" --reference half-explicit:1e-7 --schemes $schemes --steps 1e-3,5.6e-4,3.1e-4,1.8e-4,1e-4,5.6e-5,3.1e-5,1.8e-5,1e-5 --csv curve.csv
draw tables.gp "table=3; picture='table-3.png'; schemes='${schemes//,/ }'; paper='$studies/paper-tables.csv'"
