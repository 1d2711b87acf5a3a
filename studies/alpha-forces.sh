#!/usr/bin/env bash
# alpha-forces against other schemes: joints, slip, stick and slip, restitution, impacts with friction, stiff springs, the bar.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"

compared=(moreau-jean "moreau-jean theta=1" ggl-alpha half-explicit alpha-forces)

run() { # FILE MODEL STEP END "SCHEME OPTION..." ARGUMENTS...: FILE.csv; none where the scheme fails
    local file=$1 model=$2 h=$3 end=$4 words
    read -ra words <<<"$5"
    local options=("${words[@]:1}")
    shift 5
    rm -f "$file.csv"
    simulate "$model" --scheme "${words[0]}" "${options[@]/#/--option=}" --step "$h" --end "$end" --every 1 --out "$file.csv" "$@" 2>/dev/null || rm -f "$file.csv"
}
off() { # REFERENCE RUN NORM SKIP COLUMNS [ACTIVE]: the error of RUN.csv
    if [[ -e $2.csv ]]; then awk -F, -v of="$5" -v norm=$3 -v skip=$4 -v active=${6:-0} -f "$studies/differ.awk" "$1.csv" "$2.csv"; else printf "fails"; fi
}
order() { # ERROR ERROR-AT-HALF-THE-STEP
    awk -v a="$1" -v b="$2" 'BEGIN { if (a + 0 > 0 && b + 0 > 0) printf "%.2f", log(a/b)/log(2); else printf "-" }'
}
figure() { # FILE WHAT COLUMN [FROM TO]: most, size (largest magnitude), last, first, deviation or mean of a column
    if [[ ! -e $1.csv ]]; then printf "fails"; return; fi
    awk -F, -v what=$2 -v of="$3" -v from="${4:--1}" -v to="${5:-1e9}" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == of) k = i; next }
        $1 < from || $1 > to { next }
        { x = $k; if (n == 0) first = x; ++n; sum += x; squares += x*x; y = x < 0 ? -x : x; if (n == 1 || x > most) most = x; if (y > size) size = y; last = x }
        END { m = sum/n; d = squares/n - m*m
            if (what == "most") printf "%.2f", most; else if (what == "size") printf "%.0e", size; else if (what == "last") printf "%.2f", last
            else if (what == "gain") printf "%.1e", most - first; else if (what == "mean") printf "%.2f", m; else printf "%.2f", sqrt(d > 0 ? d : 0) }' "$1.csv"
}

# -- closed phases ----------------------------------------------------------------------------------------------------------

table() { # MODEL END H H/2 NORM-OF-FORCE POSITIONS VELOCITIES FORCE GAP
    local model=$studies/$1.yaml name=$1 end=$2 h=$3 half=$4 norm=$5 scheme
    run reference "$model" "$half" "$end" "event-driven rtol=1e-11 atol=1e-12"
    for scheme in "${compared[@]}" "alpha-forces rho=1" "alpha-forces rho=0.5" "alpha-forces rho=0"; do
        run a "$model" "$h" "$end" "$scheme"
        run b "$model" "$half" "$end" "$scheme"
        local q_a q_b v_a v_b f_a f_b
        q_a=$(off reference a max 0 "$6") q_b=$(off reference b max 0 "$6")
        v_a=$(off reference a max 0 "$7") v_b=$(off reference b max 0 "$7")
        f_a=$(off reference a $norm 3 "$8") f_b=$(off reference b $norm 3 "$8")
        echo "| $name | $scheme | $q_a | $q_b | $(order "$q_a" "$q_b") | $v_b | $(order "$v_a" "$v_b") | $f_a | $f_b | $(order "$f_a" "$f_b") | $(figure b size "$9") |"
    done
}
echo "Joints, slip, stick and slip: largest errors over time at two steps, h and h/2, and orders; of belt and puck the force is that of friction, its mean error:"
echo
echo "| model | scheme | q, h | q, h/2 | order | v, h/2 | order | force, h | force, h/2 | order | largest gap |"
echo "|---|---|---|---|---|---|---|---|---|---|---|"
table rod 2 0.01 0.005 max "x y" "x' y'" rod.force rod.gap
table bowl 0.7 0.007 0.0035 max "x y" "x' y'" bowl.force bowl.gap
table belt 4 0.005 0.0025 mean "x" "x'" belt.friction belt.gap
table puck 1 0.01 0.005 mean "x y" "x' y'" "floor.friction1 floor.friction2" floor.gap
echo

# -- impacts ------------------------------------------------------------------------------------------------------------------

impacting=("${compared[@]}" "alpha-forces before=crossing" "alpha-forces locate=yes")
echo "Ball, restitution 0.8, over 6 s: mean errors of the position:"
echo
echo "| scheme | h = 0.01 | 0.005 | 0.0025 | 0.00125 |"
echo "|---|---|---|---|---|"
for scheme in "${impacting[@]}"; do
    row="| $scheme |"
    for h in 0.01 0.005 0.0025 0.00125; do
        run a "$models/bouncing-ball.yaml" $h 6 "$scheme" --set e=0.8 --set weight=9.81
        row="$row $(awk -F, 'NR > 1 { e = 0.8; w = 9.81; t1 = sqrt(2/w); rest = t1*(1 + e)/(1 - e); c = 2*t1/(1 - e); left = rest - $1
            q = 0; if (left > 1e-12) { k = log(left/c)/log(e); k = int(k + 1) - 1; if (k < 0) k = 0; q = 0.5*w*(c*e^k - left)*(left - c*e^(k + 1)) }
            d = $2 - q; sum += d < 0 ? -d : d; ++n } END { printf "%.1e", sum/n }' a.csv) |"
    done
    echo "$row"
done
echo
echo "Slider-crank with friction and impacts, to 0.05 s against event-driven: mean errors of both angles, and of the normal forces of the corners, where one acts, their median:"
echo
echo "| scheme | h = 1e-4 | 5e-5 | 2.5e-5 | 1.25e-5 | order, last two | force, h = 2.5e-5 | penetration |"
echo "|---|---|---|---|---|---|---|---|"
run crank "$models/slider-crank.yaml" 1.25e-5 0.05 "event-driven rtol=1e-10 atol=1e-12"
for scheme in "${impacting[@]}"; do
    row="| $scheme |" last="" now=""
    for h in 1e-4 5e-5 2.5e-5 1.25e-5; do
        run a "$models/slider-crank.yaml" $h 0.05 "$scheme"
        last=$now now=$(off crank a mean 0 "th1 th2")
        row="$row $now |"
        if [[ $h == 2.5e-5 ]]; then
            force=$(off crank a median 0 "corner1.force corner2.force corner3.force corner4.force" 1)
            deep=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i ~ /gap$/) g[i]; next } { for (i in g) if (-$i > m) m = -$i } END { printf "%.0e", m }' a.csv)
        fi
    done
    echo "$row $(order "$last" "$now") | $force | $deep |"
done
echo

# -- stiff ----------------------------------------------------------------------------------------------------------------------

echo "Pendulum on a spring of 1e8 N/m, against the rigid one: from its length with h omega = 100; stretched by 1e-4 with h omega = 200:"
echo
echo "| scheme | error | energy gained (J) | stretched: error | energy gained (J) |"
echo "|---|---|---|---|---|"
run reference-1 "$studies/rod.yaml" 0.01 2 "event-driven rtol=1e-11 atol=1e-12"
run reference-2 "$studies/rod.yaml" 0.02 2 "event-driven rtol=1e-11 atol=1e-12"
for scheme in "${compared[@]}" "alpha-forces rho=0.5" "alpha-forces rho=1"; do
    run a "$studies/stiff-spring.yaml" 0.01 2 "$scheme"
    run b "$studies/stiff-spring.yaml" 0.02 2 "$scheme" --set stretch=1e-4
    echo "| $scheme | $(off reference-1 a max 0 "x y") | $(figure a gain energy) | $(off reference-2 b max 0 "x y") | $(figure b gain energy) |"
done
echo

# -- the bar ----------------------------------------------------------------------------------------------------------------------

echo "Elastic bar, exact: 500 J, 300 N from 0.5005 to 1.1672 s:"
echo
echo "| elements | mass | scheme | energy at 1.5 s | its most | force, 0.6 to 1.1 s | its deviation | largest deviation, 0.51 to 0.6 s | deepest |"
echo "|---|---|---|---|---|---|---|---|---|"
while read -r n mass h scheme; do
    word="mass: $mass"
    if [[ $mass == massless ]]; then word="massless: start"; fi
    sed "s/area: 1, rate/area: 1, $word, rate/" "$models/bouncing-bar.yaml" >bar.yaml
    run a bar.yaml $h 1.5 "$scheme" --set n=$n
    front=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "wall.force") k = i; next } $1 > 0.51 && $1 < 0.6 { d = $k - 300; if (d < 0) d = -d; if (d > m) m = d } END { printf "%.1f", m }' a.csv)
    deep=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "wall.gap") k = i; next } -$k > m { m = -$k } END { printf "%.0e", m }' a.csv)
    echo "| $n | $mass | $scheme | $(figure a last energy) | $(figure a most energy) | $(figure a mean wall.force 0.6 1.1) | $(figure a deviation wall.force 0.6 1.1) | $front | $deep |"
done <<'END'
200 consistent 2e-3 moreau-jean
200 consistent 2e-3 moreau-jean theta=1
200 consistent 2e-3 ggl-alpha
200 consistent 2e-3 alpha-forces rho=1
200 consistent 2e-3 alpha-forces
200 consistent 2e-3 alpha-forces reaction=mean
200 consistent 2e-3 alpha-forces rho=0.5
200 consistent 2e-3 alpha-forces rho=0
200 lumped 2e-3 alpha-forces
200 massless 2e-3 alpha-forces
200 massless 2e-3 alpha-forces reaction=mean
50 consistent 8e-3 alpha-forces
50 lumped 8e-3 alpha-forces
END
echo

# -- steps of different sizes ---------------------------------------------------------------------------------------------------------

echo "Pendulum on a rod, adaptive steps over 2 s: largest errors of position and force at the times of the run:"
echo
echo "| scheme | rtol | steps | position | force |"
echo "|---|---|---|---|---|"
for scheme in ggl-alpha alpha-forces; do
    for rtol in 1e-4 1e-5 1e-6; do
        "$carom" run "$studies/rod.yaml" --scheme $scheme --option adaptive=on --option rtol=$rtol --option atol=$rtol --step 1e-2 --end 2 --every 1 --quiet --out a.csv
        awk -F, -v scheme=$scheme -v rtol=$rtol 'NR == 1 { for (i = 1; i <= NF; ++i) c[$i] = i; next }
            { y = $c["y"]; x = $c["x"]; f = $c["rod.force"] + 3*9.81*(-y) # lambda = -3 g sin, exact for the release from rest
              e = f < 0 ? -f : f; if (NR > 4 && e > most) most = e
              v2 = $c["x'"'"'"]^2 + $c["y'"'"'"]^2 + 2*9.81*y; v2 = v2 < 0 ? -v2 : v2; if (v2 > energy) energy = v2 }
            END { printf "| %s | %s | %d | %.1e | %.1e |\n", scheme, rtol, NR - 2, energy/2, most }' a.csv
    done
done
echo

# -- errors over steps, for the picture -----------------------------------------------------------------------------------------------

run reference "$studies/bowl.yaml" 0.000875 0.7 "event-driven rtol=1e-11 atol=1e-12"
for scheme in "${compared[@]}"; do
    for h in 0.014 0.007 0.0035 0.00175 0.000875; do
        run a "$studies/bowl.yaml" $h 0.7 "$scheme"
        echo "$scheme,$h,$(off reference a max 0 "x y"),$(off reference a max 3 bowl.force)"
    done
done >bowl-errors.csv
rm -f a.csv* b.csv* bar.yaml reference*.csv* crank.csv* complaints.txt
draw alpha-forces.gp "picture='alpha-forces.png'"
