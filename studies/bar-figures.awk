# bar-figures.awk: impulse, contact time, force in four parts of the contact, gap, velocity and energies, one `name value` a line.
# awk -F, -f bar-figures.awk EVENTS.csv RESULT.csv
#
# L/c0 is the time that a wave needs for the bar.  Forces are those at step ends.
FNR == 1 {
    ++file
    for (i = 1; i <= NF; ++i) column[file, $i] = i
    next
}
file == 1 {
    kind = $column[1, "kind"]
    if (kind == "impact") impact = $column[1, "time"]
    if (kind == "open") open = $column[1, "time"]
    next
}
{
    t = $column[2, "t"]
    force = $column[2, "wall.force"]
    impulse += $column[2, "wall.impulse"]
    energy = $column[2, "energy"]
    if (FNR == 2) start = energy
    if (t < impact - 1e-12 || force <= 0) next
    gap = $column[2, "wall.gap"]
    if (!n++ || gap < deepest) deepest = gap
    if (n == 1 || gap > shallowest) shallowest = gap
    x = (t - impact)*sqrt(2.1e11/7800)
    part = x < 0.02 ? 0 : x < 0.5 ? 1 : x < 1 ? 2 : x < 1.5 ? 3 : x < 1.9 ? 4 : 0
    ++count[part]
    delta = force - mean[part] # Welford's recurrence: the deviation may be eight digits below the mean
    mean[part] += delta/count[part]
    square[part] += delta*(force - mean[part])
}
END {
    printf "impulse %.12e\n", impulse
    printf "contact_time %.4e\n", open - impact
    for (p = 1; p <= 4; ++p) printf "mean%d %.3f\ndeviation%d %.3f\n", p, mean[p], p, sqrt(square[p]/count[p])
    printf "gap_deepest %.4e\ngap_shallowest %.4e\n", deepest, shallowest
    printf "centre_rate %.10f\n", $column[2, "centre.rate"]
    printf "energy_start %.9e\nenergy_end %.9e\n", start, energy
}
