# drift.awk: what a closed contact does in a result, from CSV with every step in it.
# awk -F, -v contact=corner1 -v from=10e-3 -v to=14e-3 -f drift.awk RESULT.csv
#
# Prints cells of a Markdown row: gap at both ends of that time and mean gap velocity in it; over the whole run the largest
# penetration of any contact, the energy at the end and the largest gain of energy in one step.
NR == 1 {
    for (i = 1; i <= NF; ++i) {
        column[$i] = i
        if ($i ~ /\.gap$/) gap[++gaps] = i
    }
    next
}
{
    t = $column["t"]
    energy = $column["energy"]
    for (i = 1; i <= gaps; ++i) if ($gap[i] < deepest) deepest = $gap[i]
    if (NR > 2 && energy - last > gain) gain = energy - last
    last = energy
}
t >= from - 1e-9 && t <= to + 1e-9 {
    if (!n++) first = $column[contact ".gap"]
    end = $column[contact ".gap"]
    rate += $column[contact ".gap'"]
}
END { printf "%.3e | %.3e | %.3e | %.3e | %.9f | %.1e\n", first, end, rate/n, -deepest, energy, gain }
