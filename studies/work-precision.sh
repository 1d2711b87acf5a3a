#!/usr/bin/env bash
# Precision over work on the bouncing ball and the linear oscillator: Moreau's scheme with equal and adaptive steps, time
# stepping of any order, splitting.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"

# Equal steps are END/N with N prime, so that no step ends on an impact of the ball.
primes="41 83 167 331 661 1327 2647 5297 10589 21179"
tolerances=1e-2,3e-3,1e-3,3e-4,1e-4,3e-5,1e-5,3e-6,1e-6,3e-7,1e-7
tight=$tolerances,1e-8,1e-9,1e-10
moreau=moreau-jean:adaptive=on

steps() { # END: END/N to full precision
    awk -v end="$1" 'BEGIN { for (i = 1; i < ARGC; ++i) printf "%s%.17g", (i > 1 ? "," : ""), end/ARGV[i] }' $primes
}

report() { # HEADING FILE...: a table of all schemes
    echo "$1"
    echo
    echo "| model | scheme | slope over steps | largest rise | smallest error | its steps | its time (us) |"
    echo "|---|---|---|---|---|---|---|"
    shift
    cat "$@" | awk -F, -f "$studies/work.awk" | sed "s/^/| $problem /"
    echo
}

for problem in ball oscillator; do
    if [[ $problem == ball ]]; then model=$models/bouncing-ball.yaml end=4; else model=$models/impacting-oscillator.yaml end=10; fi
    equal=$(steps $end)
    run() { # NAME SCHEMES OPTIONS...
        compare "$model" --end $end --reference exact --csv "$problem-$1.csv" --schemes "$2" "${@:3}"
    }
    run constant moreau-jean --steps "$equal"
    run estimates $moreau:estimate=0,$moreau:estimate=1,$moreau:estimate=2,$moreau --option violation=off --tolerances $tolerances
    run violation $moreau:estimate=0,$moreau:estimate=1,$moreau:estimate=2,$moreau --tolerances $tolerances
    run explicit mixed:order=2,mixed:order=3,mixed:order=4,mixed:order=5 --steps "$equal"
    run implicit mixed:rk=gauss:order=2,mixed:rk=radau:order=3,mixed:rk=gauss:order=4,mixed:rk=radau:order=5 --steps "$equal"
    run splitting splitting:forces=off,splitting --steps "$equal"
    run adaptive splitting:adaptive=on,event-driven --tolerances $tight
    report "$problem: Moreau's scheme, equal steps" $problem-constant.csv
    report "$problem: Moreau's scheme, adaptive, estimates alone" $problem-estimates.csv
    report "$problem: Moreau's scheme, adaptive, with the violation" $problem-violation.csv
    report "$problem: any order" $problem-explicit.csv $problem-implicit.csv
    report "$problem: splitting, equal and adaptive steps; event-driven" $problem-splitting.csv $problem-adaptive.csv
done

draw work-precision.gp "picture='work-estimates.png'; what='estimates'"
draw work-precision.gp "picture='work-variable.png'; what='variable'"
draw work-precision.gp "picture='work-orders.png'; what='orders'"
draw work-precision.gp "picture='work-splitting.png'; what='splitting'"
