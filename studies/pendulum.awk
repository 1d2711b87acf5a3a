# pendulum.awk: drift of the pin, energy lost before the first impact, error of the angle at 0.4 s.  awk -F, -f pendulum.awk RESULT.csv
NR == 1 {
    for (i = 1; i <= NF; ++i) column[$i] = i
    next
}
{
    for (c = 1; c <= 2; ++c) {
        gap = $column[c == 1 ? "pin_x.gap" : "pin_y.gap"]
        if (gap < 0) gap = -gap
        if (gap > drift) drift = gap
    }
    if (NR == 2) start = $column["energy"]
    if ($column["t"] <= 0.48 + 1e-9) lost = start - $column["energy"]
    if ($column["t"] <= 0.4 + 1e-9) angle = $column["th"]
}
END { printf "%.1e | %.1e | %.1e", drift, lost, angle + 0.450878091411192185 }
