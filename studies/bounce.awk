# bounce.awk: the bouncing bar against its exact solution, from CSV with every step in it.
# awk -F, -v h=STEP -f bounce.awk RESULT.csv
#
# One `name value` a line.  Exact: contact from 0.5005 s for 2/3 s with 300 N, then v0 = 10 m/s back; the mass is 10 kg.
BEGIN { begin = 0.5005; end = begin + 2/3 }
NR == 1 {
    for (i = 1; i <= NF; ++i) column[$i] = i
    next
}
{
    t = $column["t"]
    gap = $column["wall.gap"]
    energy = $column["energy"]
    share = $column["wall.impulse"]/h
    force = $column["wall.force"]
    if (!(share > 0 && (force/share - 1)^2 < 1e-12)) force += share # schemes that know impulses only record them twice
    transmitted += force*h
    exact = t < begin ? 5.005 - 10*t : t < end ? 0 : 10*(t - end)
    off = gap > exact ? gap - exact : exact - gap
    if (off > error) error = off
    if (gap < deepest) deepest = gap
    if (energy > most) most = energy
    if (NR > 2 && energy - before > gain) gain = energy - before
    before = energy
    if (force > 0) {
        if (!first++) {
            hit = t
            impulse = force*h
        }
        last = t
    }
    if (t > 0.6 && t < 1.1) { # in between, waves are far from the wall
        ++n
        delta = force - mean
        mean += delta/n
        square += delta*(force - mean)
        rate = $column["wall.gap'"]
        if (rate < 0) rate = -rate
        if (rate > fastest) fastest = rate
    }
}
END {
    printf "energy %.2f\nmost %.1f\ngain %.1e\n", energy, most, gain
    printf "deepest %.1e\ngap_error %.3f\n", deepest < 0 ? -deepest : 0, error
    printf "force %.2f\ndeviation %.2f\nrate %.1e\n", mean, sqrt(square/n), fastest
    printf "last %.4f\nduration %.6f\n", last, last - hit + h
    printf "impulse %.4f\ntransmitted %.6f\nback %.6f\n", impulse, transmitted, transmitted/10 - 10
}
