# interaction.awk: L1 error of the interaction i(t), all that the contact has transmitted until t, at step ends.
# awk -F, -v problem=flight|load|rest|combined -v scheme=NAME -v step=H -f interaction.awk RESULT.csv  -> a row as `carom compare --csv` has it
#
# i is the sum of impulses and the time integral of the force by the trapezoidal rule over the force at step ends, so it is of second
# order at best.
function exact(t,    n) {
    if (problem == "flight" || problem == "load") return 0
    if (problem == "rest") return 10/3*t^3
    if (t < 1) return 0
    if (t >= 3) return 6 + 2*(t - 3)
    n = int(1 - log(3 - t)/log(2)) # 3 - 2^(1-n) <= t < 3 - 2^(-n)
    return 6 - 3/2^n
}
NR == 1 {
    for (k = 1; k <= NF; ++k) column[$k] = k
    next
}
{
    t = $column["t"]
    force = $column["ground.force"]
    impulse = $column["ground.impulse"]
    if (impulse > 0 && NR > 2 && (force*(t - before)/impulse - 1)^2 < 1e-12) force = 0 # of a scheme that knows impulses only: it is the impulse
    if (NR > 2) {
        i += impulse + (t - before)*(force + last)/2
        e = i - exact(t)
        sum += (t - before)*(e < 0 ? -e : e)
    }
    before = t
    last = force
}
END { printf "%s,%.17g,%.17g\n", scheme, step, sum }
