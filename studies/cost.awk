# cost.awk: cost per step of half-explicit over moreau-explicit, from `carom compare --csv` with the same steps for both.
FNR == 1 { next }
{ us[$1, $2] = $7; if ($1 == "half-explicit") step[++n] = $2 }
END {
    for (k = 1; k <= n; ++k) {
        ratio = us["half-explicit", step[k]]/us["moreau-explicit", step[k]]
        printf "%s%.2f at %g", (k > 1 ? ", " : ""), ratio, step[k]
    }
    print ""
}
