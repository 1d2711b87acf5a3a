# differ.awk: the error of a run against a reference: both as CSV, the reference first, at times of which the run's are some.
# -v of="x y": columns, whose largest error counts; -v norm=max|mean|median, over time; -v skip=N: rows of the run that do not count;
# -v active=1: of the others those where the reference is not zero.
function key(t) { return sprintf("%.8f", t) }
FNR == 1 { ++file; split("", column); for (i = 1; i <= NF; ++i) column[$i] = i; n = split(of, name, " "); next }
file == 1 { for (i = 1; i <= n; ++i) reference[key($1), i] = $column[name[i]]; next }
FNR - 1 > skip {
    worst = -1
    acts = !active
    for (i = 1; i <= n; ++i) acts = acts || ((key($1), i) in reference && reference[key($1), i] != 0)
    if (!acts) next
    for (i = 1; i <= n; ++i) {
        if (!((key($1), i) in reference)) continue
        e = $column[name[i]] - reference[key($1), i]
        if (e < 0) e = -e
        if (e > worst) worst = e
    }
    if (worst < 0) next
    error[++rows] = worst; sum += worst
    if (worst > most) most = worst
}
END {
    if (rows == 0) { printf "-"; exit }
    if (norm == "max") x = most
    else if (norm == "mean") x = sum/rows
    else {
        for (gap = int(rows/2); gap > 0; gap = int(gap/2)) # Shell's sort
            for (i = gap + 1; i <= rows; ++i) {
                y = error[i]
                for (j = i; j > gap && error[j - gap] > y; j -= gap) error[j] = error[j - gap]
                error[j] = y
            }
        x = error[int((rows + 1)/2)]
    }
    printf "%.1e", x
}
