# beside.awk: the rows of `carom compare --csv` beside a table of the paper, as Markdown.
# awk -F, -v table=2 -f beside.awk paper-tables.csv COMPARE.csv
#
# The matrix norm is not weighted with the step, so that a scheme of order p shows p - 1/2: the last column adds the half.
FNR == 1 { ++file; next }
file == 1 {
    if ($1 == table) paper[$2, $3 + 0] = $4
    next
}
{
    if (!($1 in seen)) { seen[$1] = 1; scheme[++n] = $1 }
    row[$1] = row[$1] " " $2
    error[$1, $2 + 0] = $3
    order[$1, $2 + 0] = $4
}
END {
    print "| scheme | step | error | paper | error/paper | order + 1/2 |"
    print "|---|---|---|---|---|---|"
    for (i = 1; i <= n; ++i) {
        count = split(row[scheme[i]], step, " ")
        for (k = 1; k <= count; ++k) {
            h = step[k] + 0
            e = error[scheme[i], h]
            stated = (scheme[i], h) in paper ? paper[scheme[i], h] : ""
            printf "| %s | %g | %.3e | %s | %s | %s |\n", scheme[i], h, e, stated == "" ? "-" : sprintf("%.1e", stated),
                stated == "" ? "-" : sprintf("%.3f", e/stated), order[scheme[i], h] == "" ? "" : sprintf("%.2f", order[scheme[i], h] + 0.5)
        }
    }
}
