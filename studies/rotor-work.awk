# rotor-work.awk: rows of `carom compare --csv` in groups of five neighbouring steps: scheme, first step, geometric means of the error (over `end` seconds) and of
# the time.
NR == 1 { print "scheme,step,error,seconds"; next }
{
    s = $1
    if (n[s] % 5 == 0) { step[s] = $2 + 0; error[s] = 0; time[s] = 0 }
    error[s] += log($3)
    time[s] += log($6)
    if (++n[s] % 5 == 0) row[s] = row[s] sprintf("%s,%.4g,%.4e,%.4f\n", s, step[s], exp(error[s]/5)/end, exp(time[s]/5))
}
END { for (s in row) printf "%s", row[s] | "sort -t, -k1,1 -k2,2gr" }
