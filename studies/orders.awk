# orders.awk: from rows of scheme,step,error the error at the smallest step and the order, as a piece of a Markdown row per scheme.
# The order is the least-squares slope over errors above 1e-13: what is below that is rounding.
$1 == "scheme" { next }
{
    if (!($1 in n)) scheme[++count] = $1
    if (!($1 in smallest) || $2 < smallest[$1]) { smallest[$1] = $2; at[$1] = $3 }
    n[$1] += 0
    if ($3 > 1e-13) {
        x = log($2); y = log($3)
        n[$1]++; sx[$1] += x; sy[$1] += y; sxx[$1] += x*x; sxy[$1] += x*y
    }
}
END {
    for (k = 1; k <= count; ++k) {
        s = scheme[k]
        spread = n[s]*sxx[s] - sx[s]^2
        if (at[s] == 0) order = "exact"
        else if (n[s] < 3) order = "rounding"
        else order = sprintf("%.2f", (n[s]*sxy[s] - sx[s]*sy[s])/spread)
        printf "%s,%.2e,%s\n", s, at[s], order
    }
}
