# oscillators.awk: a model of uncoupled oscillators with unit masses; omega, a list of frequencies.
BEGIN {
    n = split(omega, w, " ")
    print "carom: 1\ncoordinates:"
    for (i = 1; i <= n; ++i) printf "  q%d: {at: 1, rate: 0.3}\n", i
    printf "energy:\n  kinetic: 1/2*("
    for (i = 1; i <= n; ++i) printf "%sq%d'^2", (i > 1 ? " + " : ""), i
    printf ")\n  potential: 1/2*("
    for (i = 1; i <= n; ++i) printf "%s%.17g*q%d^2", (i > 1 ? " + " : ""), w[i]^2, i
    print ")"
}
