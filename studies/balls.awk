# balls.awk: the two-ball oscillator at 1 and 1.8 s.  awk -F, -f balls.awk RESULT.csv
NR == 1 {
    for (i = 1; i <= NF; ++i) column[$i] = i
    next
}
{
    if ($column["ground.gap"] < deepest) deepest = $column["ground.gap"]
    if ($column["t"] <= 1 + 1e-9) {
        height = $column["ground.gap"]
        energy = $column["energy"] - 14
    }
}
END { printf "%.4f | %.4f | %.4f | %.1e", height, energy, $column["energy"] - 14, deepest < 0 ? -deepest : 0 }
