# guide-drift.awk: how a guide that should stay at y = 0 is left, from CSV of slider-crank-bilateral with every step in it.
# awk -F, -f guide-drift.awk RESULT.csv
#
# Prints cells of a Markdown row: y at 1, 2 and 4 s (means of 40 ms, some turns of the crank), largest |y|, mean of y' = l1 cos(th1) th1' + l2 cos(th2) th2',
# exponent of growth between the second and the fourth second, energy at the end.
NR == 1 {
    for (i = 1; i <= NF; ++i) column[$i] = i
    next
}
{
    t = $column["t"]
    y = $column["guide.gap"]
    rate += 0.153*cos($column["th1"])*$column["th1'"] + 0.306*cos($column["th2"])*$column["th2'"]
    if (y > most) most = y
    if (-y > most) most = -y
    for (s = 1; s <= 4; ++s) {
        if (t > s - 0.04 && t <= s) {
            mean[s] += y
            ++n[s]
        }
        if (t > s - 1 && t <= s) whole[s] += y
    }
}
END {
    growth = most < 1e-12 ? "-" : sprintf("%.2f", log(whole[4]/whole[2])/log(3.5/1.5))
    printf "%.2e | %.2e | %.2e | %.2e | %.2e | %s | %.6f", mean[1]/n[1], mean[2]/n[2], mean[4]/n[4], most, rate/(NR - 1), growth, $column["energy"]
}
