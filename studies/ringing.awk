# ringing.awk: error of the force of the pendulum's pin in x after the first impact.  awk -F, -f ringing.awk RESULT.csv
#
# With 1.1 th'' = -10 cos(th) the pin pulls with x'' = -cos(th) th'^2 - sin(th) th''.
NR == 1 {
    for (i = 1; i <= NF; ++i) column[$i] = i
    next
}
{
    th = $column["th"]
    error = $column["pin_x.force"] - (-cos(th)*$column["th'"]^2 + sin(th)*cos(th)*10/1.1)
    if (hit) {
        size = error < 0 ? -error : error
        if (size > most) most = size
        if (++n <= 6) list = list (n > 1 ? ", " : "") sprintf("%.2f", error)
    }
    if ($column["wall.impulse"] > 0) hit = 1
}
END { printf "%.2f | %s", most, list }
