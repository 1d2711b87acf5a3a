# position-level.awk: rows of every step; contact, h, mass and gravity (both empty: no free fall), given with -v.  Cells: steps with nu < 0 (beyond rounding), the
# largest |nu|, nu at the end, and by how much nu is off from -m g(q~), the free fall from the last row (property 1).
NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
{
    nu = $column[contact ".nu"]
    if (nu < -1e-14) ++negative
    if (nu > most || -nu > most) most = nu < 0 ? -nu : nu
    if (mass != "" && NR > 2) {
        free = gap + h*rate - 0.5*h*h*gravity
        off = nu - (free < 0 ? -mass*free : 0)
        if (off < 0) off = -off
        if (off > worst) worst = off
    }
    gap = $column[contact ".gap"]
    rate = $column[contact ".gap'"]
}
END { printf "%d | %.4e | %.4e | %s", negative, most, nu, mass != "" ? sprintf("%.0e", worst) : "" }
