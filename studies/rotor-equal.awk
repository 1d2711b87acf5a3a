# rotor-equal.awk: the time that scheme a needs at its first step over that of b for the same error, b's time by interpolation between its neighbours (logarithms).
NR == 1 { next }
$1 == a && !ea { ea = log($3); ta = log($4); step = $2 }
$1 == b { eb[++n] = log($3); tb[n] = log($4) }
END {
    for (k = 1; k < n; ++k)
        if ((eb[k] - ea)*(eb[k + 1] - ea) <= 0) t = tb[k] + (tb[k + 1] - tb[k])*(ea - eb[k])/(eb[k + 1] - eb[k])
    if (t == "") { print "no step of the second scheme has this error"; exit 1 }
    printf "half-explicit at %s over moreau-explicit, time for the same error: %.2f\n", step, exp(ta - t)
}
