# narrow.awk: a result of the bar without the nodes u1, u2, ...: what pictures and figures need.
NR == 1 {
    for (i = 1; i <= NF; ++i) if ($i !~ /^u[1-9]/) keep[++n] = i
}
{
    for (j = 1; j < n; ++j) printf "%s,", $keep[j]
    print $keep[n]
}
