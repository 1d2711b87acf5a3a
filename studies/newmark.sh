#!/usr/bin/env bash
# Newmark's family in the lecture: standard values, spectral radii, and contact forced into the accelerations.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"

# -- standard values ------------------------------------------------------------------------------------------------------

steps=0.16,0.08,0.04,0.02,0.01
sixth=0.16666666666666667 twelfth=0.083333333333333333
radii() { # CURVE OMEGAS M ALPHA_M ALPHA_F GAMMA BETA SCHEME OPTION...: spectral radii with unit step
    local curve=$1 omega=$2 m=$3 parameters=(-v "alpha_m=$4" -v "alpha_f=$5" -v "gamma=$6" -v "beta=$7") scheme=$8
    shift 8
    awk -v omega="$omega" -f "$studies/oscillators.awk" >oscillators.yaml
    simulate oscillators.yaml --scheme $scheme "${@/#/--option=}" --step 1 --end 5 --every 1 --out oscillators.csv
    awk -F, -v curve="$curve" -v omega="$omega" -v m=$m "${parameters[@]}" -f "$studies/spectral.awk" oscillators.csv
}
order() { # START OF SCHEME
    compare "$studies/oscillator.yaml" --set v_0=$1 --reference exact --schemes "$3" --steps $steps --of "$2" --csv orders.csv
    awk -F, -f "$studies/orders.awk" orders.csv | cut -d, -f3
}
limits=$(awk 'BEGIN { for (x = 1.9; x < 3.595; x += 0.01) printf "%.2f ", x }')
echo "| standard values, gamma = 1/2 | beta | largest h omega with radius 1, of 1.90 to 3.59 | order of q from rest | order of q | order of q' |"
echo "|---|---|---|---|---|---|"
while read -r beta number name; do
    last=$(radii limit "$limits" 2 0 0 0.5 $number newmark gamma=0.5 beta=$number | awk -F, '$3 < 1 + 1e-6 { last = $2 } END { printf "%.2f", last }')
    scheme=newmark:gamma=0.5:beta=$number
    echo "| $name | $beta | $last | $(order 0 q $scheme) | $(order 0.7 q $scheme) | $(order 0.7 "q'" $scheme) |"
done <<END
1/4 0.25 average acceleration
1/6 $sixth linear acceleration
1/12 $twelfth Fox and Goodwin
0 0 central differences
END
echo
echo "| other parameters | order of q | order of q' |"
echo "|---|---|---|"
for scheme in newmark:gamma=0.9:beta=0.49 newmark:gamma=1:beta=0.5 hht:alpha=0.1 hht:alpha=0.1:gamma=0.7 generalized-alpha:rho=0.8 generalized-alpha:rho=1 generalized-alpha:alpha-m=0:alpha-f=0.1:gamma=0.5; do
    echo "| $scheme | $(order 0.7 q $scheme) | $(order 0.7 "q'" $scheme) |"
done
echo

# -- spectral radii -------------------------------------------------------------------------------------------------------

all=$(awk 'BEGIN { for (k = -20; k <= 60; ++k) printf "%.17g ", exp(log(10)*k/20) }')
for beta in 0.45 0.49 0.6 0.8 1; do radii "beta = $beta" "$all" 2 0 0 0.9 $beta newmark gamma=0.9 beta=$beta; done >radii-newmark.csv
{
    radii "trapezoidal rule" "$all" 2 0 0 0.5 0.25 newmark
    radii "Newmark gamma = 0.6" "$all" 2 0 0 0.6 0.3025 newmark gamma=0.6 beta=0.3025
    for alpha in 0.05 0.1 0.3; do
        radii "HHT alpha = $alpha" "$all" 3 0 $alpha "$(awk -v a=$alpha 'BEGIN { print 0.5 + a }')" "$(awk -v a=$alpha 'BEGIN { printf "%.17g", (1 + a)^2/4 }')" hht alpha=$alpha
    done
    radii "generalized-alpha rho = 0.8" "$all" 3 0.33333333333333333 0.44444444444444444 0.61111111111111111 0.30864197530864196 generalized-alpha rho=0.8 start=force
} >radii-alpha.csv
echo "| spectral radius | h omega = 0.1 | 1 | 10 | 1000 | largest | largest difference from the amplification matrix |"
echo "|---|---|---|---|---|---|---|"
cat radii-newmark.csv radii-alpha.csv | awk -F, '
    function near(x) { return $2/x < 1.001 && x/$2 < 1.001 }
    !($1 in most) { name[++n] = $1; most[$1] = off[$1] = 0 }
    near(0.1) { a[$1] = $3 } near(1) { b[$1] = $3 } near(10) { c[$1] = $3 } near(1000) { d[$1] = $3 }
    { if ($3 > most[$1]) most[$1] = $3; x = $3 > $4 ? $3 - $4 : $4 - $3; if (x > off[$1]) off[$1] = x }
    END { for (i = 1; i <= n; ++i) printf "| %s | %.5f | %.5f | %.5f | %.5f | %.5f | %.0e |\n", name[i], a[name[i]], b[name[i]], c[name[i]], d[name[i]], most[name[i]], off[name[i]] }'
echo

# -- contact inside the accelerations ---------------------------------------------------------------------------------------

naive() { # CASE DROP OPTION...
    local case=$1 drop=$2
    shift 2
    simulate "$models/bouncing-ball.yaml" --set weight=9.81 --set e=0.9 --set drop=$drop --scheme newmark "${@/#/--option=}" --step 1e-3 --end 4 --every 1 --out $case.csv
}
figures() { # CASE: highest after the first impact; energy in the middle of the first flight back, at 4 s; velocities before and after the first impact
    awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
        { q = $column["q"]; v = $column["q'"'"'"] }
        !hit && last < 0 && v > last + 0.5 { hit = 1; before = last; at = $column["t"] }
        hit == 1 && v <= last { hit = 2; after = last }
        hit && q > most { most = q }
        { last = v; end = $column["energy"] }
        END { printf "%.3f | %.4f | %.4f | %.3f | %.4g", at, before, after, -after/before, end }' $1.csv
}
echo "| contact in the accelerations, h = 1e-3 | drop | first impact (s) | velocity before | after | ratio | energy at 4 s |"
echo "|---|---|---|---|---|---|---|"
while read -r case drop options; do
    # shellcheck disable=SC2086 # options are words
    naive naive-$case $drop $options
    echo "| $options | $drop | $(figures naive-$case) |"
done <<'END'
nonsmooth 1 gamma=1 beta=0.5
velocity-1 1 contact=velocity gamma=1 beta=0.5
velocity-half 1 contact=velocity gamma=0.5 beta=0.25
position-1 1 contact=position gamma=1 beta=0.5
position-1.01 1.01 contact=position gamma=1 beta=0.5
END
simulate "$models/bouncing-ball.yaml" --set weight=9.81 --set e=0.9 --scheme event-driven --step 1e-3 --end 4 --every 1 --out naive-exact-1.csv
simulate "$models/bouncing-ball.yaml" --set weight=9.81 --set e=0.9 --set drop=1.01 --scheme event-driven --step 1e-3 --end 4 --every 1 --out naive-exact-1.01.csv

draw newmark-radii.gp "picture='newmark-radii.png'"
draw newmark-naive.gp "picture='newmark-naive.png'"
