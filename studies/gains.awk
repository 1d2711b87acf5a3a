# gains.awk: energy at the end, and what single steps gain.
# awk -F, -v reference=E -v cost=NS -v first=NS -f gains.awk EVERY-STEP.csv RESULT.csv
#
# Prints cells of a Markdown row.  Only impacts change the energy of the exact motion, and they lose it.
FNR == 1 {
    ++file
    gaps = 0
    for (i = 1; i <= NF; ++i) {
        column[$i] = i
        if ($i ~ /\.gap$/) gap[++gaps] = i
    }
    next
}
{ energy = $column["energy"] }
file == 1 {
    for (i = 1; i <= gaps; ++i) if ($gap[i] < deepest) deepest = $gap[i]
    if (FNR > 2 && energy > last) sum += energy - last
    if (FNR == 2 || energy < least) least = energy
    if (energy - least > rise) rise = energy - least
    last = energy
}
END { printf "%.5f | %.5f | %.1e | %.1e | %.1e | %.1f", energy, energy - reference, -deepest, sum, rise, cost/first }
