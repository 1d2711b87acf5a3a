# work.awk: rows of `carom compare --csv` as a row of a Markdown table per scheme: the least-squares slope of the error over the number
# of steps (what is below 1e-11, near rounding, left out), the largest factor by which the error rises from one level to the next tighter one,
# and the smallest error with its steps and its time.
$1 == "scheme" || $3 == "" { next }
{
    s = $1
    if (!(s in n)) { scheme[++count] = s; n[s] = 0; rise[s] = 1 }
    if (s in last && $3/last[s] > rise[s]) rise[s] = $3/last[s]
    last[s] = $3
    if (!(s in best) || $3 < best[s]) { best[s] = $3; steps[s] = $5; time[s] = 1e6*$6 }
    if ($3 > 1e-11) {
        x = log($5); y = log($3)
        n[s]++; sx[s] += x; sy[s] += y; sxx[s] += x*x; sxy[s] += x*y
    }
}
END {
    for (k = 1; k <= count; ++k) {
        s = scheme[k]
        spread = n[s]*sxx[s] - sx[s]^2
        slope = n[s] < 3 || spread <= 0 ? "-" : sprintf("%.2f", (n[s]*sxy[s] - sx[s]*sy[s])/spread)
        printf "| %s | %s | %.1f | %.2e | %d | %.0f |\n", s, slope, rise[s], best[s], steps[s], time[s]
    }
}
