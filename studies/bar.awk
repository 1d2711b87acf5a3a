# bar.awk: a linear elastic rod that flies against a wall, as a model file.
# awk -v N=50 -v beta=0 -f bar.awk > bar.yaml        N: elements; beta: damping C = beta K, a number or an expression of the parameters
#
# N linear rod elements of length le with consistent mass (rho S le/6 [2 1; 1 2]) and stiffness (E S/le [1 -1; -1 1]); u0 .. uN are the
# displacements of the nodes, node 0 meets the wall.  The initial gap leaves half a step of 1e-7 s to the wall in the step that meets it.
BEGIN {
    print "carom: 1"
    printf "name: Elastic bar of %d elements\n", N
    print "parameters: {L: 1, S: pi*1e-4, rho: 7800, E: 2.1e11, v0: 0.1, gap0: 5.0005e-5,"
    printf "             beta: %s, n: %d, le: L/n, m: rho*S*le/6, k: E*S/le}\n", beta, N
    print "coordinates:"
    for (i = 0; i <= N; ++i) printf "  u%d: {at: 0, rate: -v0}\n", i
    print "energy:"
    printf "  kinetic: m*("
    for (i = 0; i < N; ++i) printf "%su%d'^2 + u%d'*u%d' + u%d'^2", (i ? " + " : ""), i, i, i + 1, i + 1
    print ")"
    printf "  potential: k/2*("
    for (i = 0; i < N; ++i) printf "%s(u%d - u%d)^2", (i ? " + " : ""), i + 1, i
    print ")"
    if (beta != 0) damping()
    print "contacts:"
    print "  wall: {gap: gap0 + u0, restitution: 0}"
    printf "outputs: {tip: u%d, tip.rate: u%d', middle.rate: u%d', centre.rate: (u0'/2", N, N, int(N/2)
    for (i = 1; i < N; ++i) printf " + u%d'", i
    printf " + u%d'/2)/n}\n", N
    print "simulation: {scheme: half-explicit, step: 1e-7, end: 1e-3}"
}
function damping(    i) {
    print "forces:"
    for (i = 0; i <= N; ++i) {
        printf "  u%d: -beta*k*(", i
        if (i > 0) printf "u%d' - u%d'", i, i - 1
        if (i > 0 && i < N) printf " + "
        if (i < N) printf "u%d' - u%d'", i, i + 1
        print ")"
    }
}
