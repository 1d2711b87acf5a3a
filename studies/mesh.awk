# mesh.awk: errors over meshes, and the order of each from all but the coarsest mesh by least squares.
# awk -F, -f mesh.awk MESH.csv      rows: scheme, elements, errors of duration, impulse, velocity back, gap; energy lost
{
    if (!($1 in rows)) name[++schemes] = $1
    k = ++rows[$1]
    elements[$1, k] = $2
    for (i = 3; i <= 7; ++i) error[$1, k, i] = $i
}
function order(s, i, from,    k, x, y, n, sx, sy, sxx, sxy, e) {
    for (k = from; k <= rows[s]; ++k) {
        e = error[s, k, i] < 0 ? -error[s, k, i] : error[s, k, i]
        if (e == 0) return "-"
        x = log(elements[s, k])
        y = log(e)
        ++n; sx += x; sy += y; sxx += x*x; sxy += x*y
    }
    return sprintf("%.2f", -(n*sxy - sx*sy)/(n*sxx - sx*sx))
}
END {
    print "| scheme | elements | contact lasts too long by (s) | impulse, too much (N s) | velocity back, too much (m/s) | largest error of the gap (m) | energy lost (J) |"
    print "|---|---|---|---|---|---|---|"
    for (j = 1; j <= schemes; ++j) {
        s = name[j]
        for (k = 1; k <= rows[s]; ++k) {
            printf "| %s | %d |", s, elements[s, k]
            for (i = 3; i <= 7; ++i) printf " %.2e |", error[s, k, i]
            print ""
        }
        printf "| %s | order |", s
        for (i = 3; i <= 7; ++i) printf " %s |", order(s, i, 2)
        print ""
    }
}
