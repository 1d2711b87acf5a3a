#!/usr/bin/env bash
# Local errors of Moreau's scheme in a step with an impact, by the forecast gamma of the lecture.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"
ball=$models/bouncing-ball.yaml # f = -2, e = 1/2

start() { # "Q V": start.yaml, the ball from there
    sed "s/^coordinates:\$/coordinates: {q: {at: ${1% *}, rate: ${1#* }}}/; /^  q: {at: drop}\$/d; /^exact:/,/^outputs:/d; /^checks:/d" "$ball" >start.yaml
}

# Start on the exact motion sigma h before the impact at t = 1: q = 1 - t^2, v = -2 t.
step() { # H SIGMA GAMMA THETA: a row of local.csv
    start "$(awk -v h=$1 -v s=$2 'BEGIN { t = 1 - s*h; printf "%.17g %.17g", 1 - t*t, -2*t }')"
    simulate start.yaml --scheme moreau-jean --option gamma=$3 --option theta=$4 --step $1 --end $1 --every 1 --out step.csv
    awk -F, -v h=$1 -v s=$2 -v gamma=$3 -v theta=$4 '
        NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
        NR == 2 { q0 = $column["q"]; v0 = $column["q'"'"'"] }
        { q1 = $column["q"]; v1 = $column["q'"'"'"] }
        END {
            e = 0.5; f = -2
            v = -e*(v0 + f*s*h) + f*(1 - s)*h                        # the exact motion at t + h
            q = -e*(v0 + f*s*h)*(1 - s)*h + f*((1 - s)*h)^2/2
            found = v1 > 0
            ev = found ? h*f*(1 - s - e*s) : -(1 + e)*(v0 + h*f*s)   # (126), derived anew
            eq = (found ? -h*(1 + e)*(1 - theta - s)*v0 : -h*(1 + e)*(1 - s)*v0) + f*h*h*((1 - s)^2/2 + s^2/2 - e*s*(1 - s) - (found ? 0 : theta))
            printf "%s,%s,%s,%s,%d,%.9e,%.9e,%.1e,%.1e\n", h, s, gamma, theta, found, v - v1, q - q1, v - v1 - ev, q - q1 - eq
        }' step.csv
}

echo "h,sigma,gamma,theta,found,e_v,e_q,off_v,off_q" >local.csv
for gamma in 0 0.5 1; do
    for sigma in 0.25 0.75; do
        for h in 1e-1 1e-2 1e-3 1e-4; do step $h $sigma $gamma 0.5; done
    done
done >>local.csv
for h in 1e-2 1e-3; do step $h 0.75 1 1; done >>local.csv
awk -F, '
    NR == 1 { print "| gamma | sigma | theta | impact found | e_v at h = 1e-2 | at 1e-3 | order | e_q at 1e-2 | at 1e-3 | order | largest difference from the formulas |\n|---|---|---|---|---|---|---|---|---|---|---|"; next }
    { k = $3 SUBSEP $2 SUBSEP $4 }
    !(k in found) { key[++n] = k; name[k] = "| " $3 " | " $2 " | " $4 " |"; off[k] = 0 }
    { found[k] = $5; a = $8 < 0 ? -$8 : $8; b = $9 < 0 ? -$9 : $9; if (a > off[k]) off[k] = a; if (b > off[k]) off[k] = b }
    $1 + 0 == 1e-2 { v2[k] = $6; q2[k] = $7 }
    $1 + 0 == 1e-3 { v3[k] = $6; q3[k] = $7 }
    END { for (i = 1; i <= n; ++i) { k = key[i]
        printf "%s %s | %.4e | %.4e | %.2f | %.4e | %.4e | %.2f | %.0e |\n", name[k], found[k] ? "yes" : "no", v2[k], v3[k], log(v2[k]/v3[k])/log(10), q2[k], q3[k], log(q2[k]/q3[k])/log(10), off[k] } }' local.csv
echo

# Global errors: what the forecast does to a whole run.
echo "| gamma, 4 s of the ball | q, l1 | order | q', l1 | order | deepest at h = 4/661 |"
echo "|---|---|---|---|---|---|"
steps=$(awk 'BEGIN { for (i = 1; i < ARGC; ++i) printf "%s%.17g", (i > 1 ? "," : ""), 4/ARGV[i] }' 167 331 661 1327 2647 5297)
for gamma in 0 0.5 1; do
    for of in q "q'"; do
        compare "$ball" --reference exact --schemes moreau-jean:gamma=$gamma --steps "$steps" --of "$of" --csv whole.csv
        awk -F, -f "$studies/orders.awk" whole.csv
    done | awk -F, -v gamma=$gamma '{ printf "%s %s | %s |", NR == 1 ? "| " gamma " |" : "", $2, $3 }'
    simulate "$ball" --scheme moreau-jean --option gamma=$gamma --step "$(awk 'BEGIN { printf "%.17g", 4/661 }')" --every 1 --out whole.csv
    awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next } $column["q"] < least { least = $column["q"] } END { printf " %.2e |\n", -least }' whole.csv
done
echo

# A step [3 - h, 3 + h] over the accumulation, h = 1.25/2^n: the ball falls between two impacts.
echo "| step over the accumulation, h | gamma | velocity before | after | e_v | e_v / h |"
echo "|---|---|---|---|---|---|"
for n in 4 7 10 13; do
    for gamma in 0.5 1; do
        # n_0 with 1/2^n_0 <= h < 1/2^(n_0 - 1) is n; v = -2 (t - 3) - 3/2^n_0, q by (124)
        awk -v n=$n 'BEGIN { h = 1.25/2^n; v = 2*h - 3/2^n; q = -h*h - 3/2^n*(2 - h) + 2/2^n*(3 - 1/2^n); printf "%.17g %.17g %.17g\n", h, q, v }' >state.txt
        read -r h q v <state.txt
        start "$q $v"
        double=$(awk -v h=$h 'BEGIN { printf "%.17g", 2*h }')
        simulate start.yaml --scheme moreau-jean --option gamma=$gamma --step $double --end $double --every 1 --out step.csv
        awk -F, -v h=$h -v gamma=$gamma -v v=$v 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next } { x = $column["q'"'"'"] } END { printf "| %.3e | %s | %.3e | %.3e | %.3e | %.2f |\n", h, gamma, v, x, -x, -x/h }' step.csv
    done
done

draw local-error.gp "picture='local-error.png'"
