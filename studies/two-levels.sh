#!/usr/bin/env bash
# Constraints on position and velocity level: ball, pendulum and rocking block of the generalized-alpha paper, two-ball oscillator of the lecture.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"
theta=theta=0.55555555555555556 # spectral radius 0.8, as ggl-alpha has

run() { # CASE MODEL STEP END SCHEME [OPTION...]
    local case=$1 model=$2 h=$3 end=$4 scheme=$5
    shift 5
    simulate "$models/$model.yaml" --scheme $scheme "${@/#/--option=}" --step $h --end $end --every 1 --out $case.csv
}
rest() { # CASE STEP CONTACT...: cells: deepest; every contact has an impulse in every step from then on; impulse/h at the end, each; energy at the end, its most
    local case=$1 h=$2
    shift 2
    awk -F, -v h=$h -v contacts="$*" -f "$studies/rest.awk" $case.csv
}

echo "| ball, step 2e-3 | deepest | pressed from then on (exact 3.602) | impulse per time at the end | energy at the end | its most |"
echo "|---|---|---|---|---|---|"
while read -r case scheme option; do
    run ball-$case bouncing-ball-b 2e-3 5 $scheme $option
    echo "| $scheme $option | $(rest ball-$case 2e-3 ground) |"
done <<END
ggl ggl-alpha rho=0.8
moreau moreau-jean $theta
modified ggl-alpha complementarity=modified
index3 alpha-index3 rho=0.8 impacts=ignore
END
echo

# On the ball ggl-alpha is a map of four lines: parabola; below the ground q = 0 and v = max(v~, -e v).  A flight that ends on the ground within rounding is closed or not.
echo "| the same map by hand | pressed from then on |"
echo "|---|---|"
for tie in closed open; do
    echo "| flights that end on the ground are $tie | $(awk -v tie=$tie 'BEGIN {
        h = 2e-3; q = 0.801
        for (n = 1; n <= 2500; ++n) {
            x = q + h*v - 5*h*h; w = v - 10*h; back = -0.8*v
            hit = x^2 < 1e-24 && x != 0 ? tie == "closed" : x <= 0
            pressed = hit && back > w
            q = hit ? 0 : x; v = pressed ? back : w
            if (pressed && !before) since = n*h
            before = pressed
        }
        printf "%.4f", since }') |"
done
echo

echo "| rule for the velocity level, ball | deepest | pressed from then on | impulse per time at the end | energy at the end | its most |"
echo "|---|---|---|---|---|---|"
for active in corrected smooth start forecast end; do
    run ball-active bouncing-ball-b 2e-3 5 ggl-alpha active=$active
    echo "| active=$active | $(rest ball-active 2e-3 ground) |"
done
echo

echo "| pendulum | step | deepest | pressed from then on (exact 5.0540) | impulse per time at the end | energy at the end | its most | largest drift of the pin | energy lost until 0.48 s | error of the angle at 0.4 s |"
echo "|---|---|---|---|---|---|---|---|---|---|"
for h in 1e-3 1e-4; do
    while read -r case scheme option; do
        run pendulum-$case-$h pendulum $h 6 $scheme $option
        echo "| $scheme $option | $h | $(rest pendulum-$case-$h $h wall) | $(awk -F, -f "$studies/pendulum.awk" pendulum-$case-$h.csv) |"
    done <<END
ggl ggl-alpha rho=0.8
moreau moreau-jean $theta
END
done
echo

# nu, the multiplier of the position level; the ball's is that of free fall below the ground, property 1.
nu() { # CASE STEP CONTACT [MASS GRAVITY]
    awk -F, -v contact=$3 -v h=$2 -v mass="${4:-}" -v gravity="${5:-}" -f "$studies/position-level.awk" $1.csv
}
echo "| multiplier on position level | step | steps with nu < 0 | largest nu (kg m) | at rest | largest difference from -m g(q~) |"
echo "|---|---|---|---|---|---|"
echo "| ball | 2e-3 | $(nu ball-ggl 2e-3 ground 1 10) |"
run ball-fine bouncing-ball-b 2e-4 5 ggl-alpha rho=0.8
echo "| ball | 2e-4 | $(nu ball-fine 2e-4 ground 1 10) |"
for h in 1e-3 1e-4; do
    for contact in wall pin_x; do echo "| pendulum, $contact | $h | $(nu pendulum-ggl-$h $h $contact) |"; done
done
echo

# lambda~ of the pin rings after an impact; its right value follows from the state.
echo "| rho of ggl-alpha | largest error of the pin's force after the first impact (N) | errors in the steps that follow the impact |"
echo "|---|---|---|"
for rho in 0.9 0.8 0.5 0.2 0; do
    run ringing-$rho pendulum 1e-3 0.7 ggl-alpha rho=$rho
    echo "| $rho | $(awk -F, -f "$studies/ringing.awk" ringing-$rho.csv) |"
done
echo

echo "| rocking block | step | deepest | both pressed from then on (exact 0.7622) | impulse per time at the end, right, left | energy at the end | its most | y at 0.5 s (exact 0.764959) | angle at 0.5 s (exact 0.002914) |"
echo "|---|---|---|---|---|---|---|---|---|"
for h in 1e-2 2e-4; do
    while read -r case scheme option; do
        run block-$case-$h rocking-block $h 2 $scheme $option
        echo "| $scheme $option | $h | $(rest block-$case-$h $h right left) | $(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
            $column["t"] <= 0.5 + 1e-9 { y = $column["y"]; th = $column["th"] } END { printf "%.6f | %.6f", y, th }' block-$case-$h.csv) |"
    done <<END
ggl ggl-alpha rho=0.8
moreau moreau-jean $theta
END
done
echo

# Two balls on a spring; heights and energies as q1 = y1 - R, E without what the balls have at rest on the ground.
echo "| two-ball oscillator | step | lower ball at 1 s (exact 0.03976) | energy at 1 s (exact 9.7455) | at 1.8 s (exact 5.4215) | deepest |"
echo "|---|---|---|---|---|---|"
simulate "$models/two-ball-oscillator.yaml" --scheme event-driven --step 1e-3 --end 1.8 --every 1 --out balls-exact.csv
while read -r case h scheme options; do
    # shellcheck disable=SC2086 # options are words
    run balls-$case two-ball-oscillator $h 1.8 $scheme $options
    echo "| $scheme $options | $h | $(awk -F, -f "$studies/balls.awk" balls-$case.csv) |"
done <<'END'
moreau 2e-3 moreau-jean theta=1
newmark 2e-3 newmark gamma=1 beta=0.5
hht 2e-3 hht alpha=0.1
ggl 2e-3 ggl-alpha rho=0.8
moreau-small 2e-4 moreau-jean theta=1
newmark-small 2e-4 newmark gamma=1 beta=0.5
hht-small 2e-4 hht alpha=0.1
ggl-small 2e-4 ggl-alpha rho=0.8
moreau-smaller 2e-5 moreau-jean theta=1
ggl-smaller 2e-5 ggl-alpha rho=0.8
END

draw two-levels-ball.gp "picture='two-levels-ball.png'"
draw two-levels-nu.gp "picture='two-levels-nu.png'"
draw two-levels-pendulum.gp "picture='two-levels-pendulum.png'"
draw two-levels-block.gp "picture='two-levels-block.png'"
draw two-levels-balls.gp "picture='two-levels-balls.png'"
