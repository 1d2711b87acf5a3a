#!/usr/bin/env bash
# Examples of Chen, Acary, Virlez and Bruels in the lecture: ball in the relative L1 norm, stiff two-ball oscillator, energy of the bar.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"

# -- the ball: relative L1 norm (33) over [0, 4] ------------------------------------------------------------------------------

schemes=generalized-alpha:rho=0.8,moreau-jean:theta=1,newmark:gamma=1:beta=0.5625
steps=$(awk 'BEGIN { for (i = 1; i < ARGC; ++i) printf "%s%.17g", (i > 1 ? "," : ""), 4/ARGV[i] }' 83 167 331 661 1327 2647 5297 10589)
for what in q v; do
    of=q
    if [[ $what == v ]]; then of="q'"; fi
    compare "$models/bouncing-ball.yaml" --end 4 --reference exact --schemes $schemes --steps "$steps" --of "$of" --norm relative-l1 --csv ball-$what.csv
    awk -F, -f "$studies/orders.awk" ball-$what.csv >ball-$what.orders
done
mean() { # SCHEME FILE: geometric mean of the error over the step
    awk -F, -v s="$1" '$1 == s { sum += log($3/$2); ++n } END { printf "%.3f", exp(sum/n) }' $2
}
echo "| ball, relative-l1 | q at h = 4/10589 | order | q over h, mean | q' at h = 4/10589 | order | q' over h, mean |"
echo "|---|---|---|---|---|---|---|"
while IFS=, read -r scheme q order_q _ v order_v; do
    echo "| $scheme | $q | $order_q | $(mean $scheme ball-q.csv) | $v | $order_v | $(mean $scheme ball-v.csv) |"
done < <(paste -d, ball-q.orders ball-v.orders)
echo

# -- two balls on a spring of 1e4 N/m, bar -------------------------------------------------------------------------------------

run() { # FILE MODEL STEP EVERY SCHEME OPTIONS
    local file=$1 model=$2 h=$3 every=$4 scheme=$5
    shift 5
    simulate "$models/$model.yaml" "${set[@]}" --scheme $scheme "${@/#/--option=}" --step $h --every $every --out $file
}
energies() { # FILE LEVEL TIME...: energy above LEVEL
    local file=$1 level=$2 at
    shift 2
    for at in "$@"; do
        awk -F, -v at=$at -v level=$level 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next } $column["t"] <= at + 1e-9 { e = $column["energy"] } END { printf " %.4f |", e - level }' $file
    done
}
set=(--set k=1e4 --end 2)
echo "| two balls, k = 1e4 N/m: energy above rest (J) | step | at 0.39 s | 0.7 s | 1 s | 1.5 s | 2 s |"
echo "|---|---|---|---|---|---|---|"
while read -r case h every scheme options; do
    # shellcheck disable=SC2086 # options are words
    run balls-$case.csv two-ball-oscillator $h $every $scheme $options
    echo "| $scheme${options:+ $options} | $h |$(energies balls-$case.csv 14 0.39 0.7 1 1.5 2)"
done <<'END'
exact 1e-3 1 event-driven
alpha 1e-3 1 generalized-alpha rho=0.8
moreau 1e-3 1 moreau-jean theta=1
newmark 1e-3 1 newmark gamma=1 beta=0.5625
alpha-small 1e-4 10 generalized-alpha rho=0.8
moreau-small 1e-4 10 moreau-jean theta=1
newmark-small 1e-4 10 newmark gamma=1 beta=0.5625
END
echo

set=()
echo "| bar, 200 elements: energy (J) of 500 | step | at 0.4 s | 0.8 s | 1.5 s |"
echo "|---|---|---|---|---|"
while read -r case h every scheme options; do
    # shellcheck disable=SC2086
    run bar-$case.csv bouncing-bar $h $every $scheme $options
    echo "| $scheme $options | $h |$(energies bar-$case.csv 0 0.4 0.8 1.5)"
done <<'END'
alpha 2e-3 5 generalized-alpha rho=0.6
newmark 2e-3 5 newmark gamma=1 beta=0.5625
euler 2e-3 5 moreau-jean theta=1
euler-small 2e-4 50 moreau-jean theta=1
euler-smaller 2e-5 500 moreau-jean theta=1
END

echo

# -- figures 3 and 8 as curves: ball at 1e-3; end of the bar and pressure at the wall at 2e-3 ---------------------------------

set=(--end 4)
echo "| ball, h = 1e-3, largest differences from the exact motion | q before 2.9 s | q after | q' at the end |"
echo "|---|---|---|---|"
run ball-exact.csv bouncing-ball 1e-3 1 event-driven
while read -r case scheme options; do
    # shellcheck disable=SC2086
    run ball-$case.csv bouncing-ball 1e-3 1 $scheme $options
    echo "| $scheme $options |$(awk -F, 'function size(x) { return x < 0 ? -x : x }
        FNR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
        NR == FNR { q[FNR] = $column["q"]; next }
        { d = size($column["q"] - q[FNR]); late = $column["t"] > 2.9; if (d > most[late]) most[late] = d; v = $column["q\047"] }
        END { printf " %.2e | %.2e | %.2e |", most[0], most[1], v }' ball-exact.csv ball-$case.csv)"
done <<'END'
alpha generalized-alpha rho=0.8
moreau moreau-jean theta=1
newmark newmark gamma=1 beta=0.5625
END
echo

set=()
echo "| bar, h = 2e-3 | largest error of the end at the wall (m) | pressure, 0.6 to 1.1 s | its deviation | its largest before 0.6 s | impacts |"
echo "|---|---|---|---|---|---|"
while read -r case scheme options; do
    # shellcheck disable=SC2086
    run pressure-$case.csv bouncing-bar 2e-3 1 $scheme $options
    echo "| $scheme $options |$(awk -F, 'function size(x) { return x < 0 ? -x : x }
        FNR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
        { t = $column["t"]; tau = t - 0.5005; exact = tau < 0 ? -10*t : tau < 2/3 ? -5.005 : -5.005 + 10*(tau - 2/3); d = size($column["bar.start.u"] - exact); if (d > most) most = d
          p = $column["wall.impulse"]/2e-3; if (t > 0.6 && t < 1.1) { ++n; sum += p; squares += p*p } else if (t < 0.6 && p > peak) peak = p
          hit += p > 0 && before == 0; before = p }
        END { mean = sum/n; printf " %.2e | %.2f | %.2f | %.1f | %d |", most, mean, sqrt(squares/n - mean*mean), peak, hit }' pressure-$case.csv)"
done <<'END'
alpha generalized-alpha rho=0.6
moreau moreau-jean theta=1
newmark newmark gamma=1 beta=0.5625
END

draw chen.gp "picture='chen.png'"
draw chen-curves.gp "picture='chen-curves.png'"
