# narrow.awk: a result of the bar without the unknowns of its nodes, but with their mean velocity: what pictures and figures need.
# Consistent and lumped masses have the same row sums: half an element at either end.
NR == 1 {
    for (i = 1; i <= NF; ++i)
        if ($i ~ /^bar\.u[0-9]+'$/) rate[++m] = i
        else if ($i !~ /^bar\.u[0-9]/) keep[++n] = i
}
{
    for (j = 1; j <= n; ++j) printf "%s,", $keep[j]
    if (NR == 1) {
        print "centre.rate"
        next
    }
    sum = ($rate[1] + $rate[m])/2
    for (j = 2; j < m; ++j) sum += $rate[j]
    printf "%.17g\n", sum/(m - 1)
}
