# choosing.awk: rows of `carom compare --csv`, a file per model: the least CPU time of a scheme whose error is below a bound.  -v bounds="1e-3 1e-6": others than three.
BEGIN { count = split(bounds == "" ? "1e-2 1e-3 1e-6" : bounds, bound, " ") }
FNR == 1 { ++file; name[file] = FILENAME; sub(/\.csv$/, "", name[file]); next }
$3 == "" { next }
{
    if (!($1 in seen)) { seen[$1] = 1; scheme[++n] = $1 }
    for (b = 1; b <= count; ++b)
        if ($3 + 0 < bound[b] + 0 && (!((file, $1, b) in least) || $6 + 0 < least[file, $1, b])) least[file, $1, b] = $6 + 0
}
END {
    head = "| scheme |"; rule = "|---|"
    for (f = 1; f <= file; ++f) { head = head " " name[f] " (us) |"; rule = rule "---|"; for (b = 2; b <= count; ++b) { head = head "  |"; rule = rule "---|" } }
    print head; print rule
    head = "| |"
    for (f = 1; f <= file; ++f) for (b = 1; b <= count; ++b) head = head " " bound[b] " |"
    print head
    for (i = 1; i <= n; ++i) {
        row = "| " scheme[i] " |"
        for (f = 1; f <= file; ++f)
            for (b = 1; b <= count; ++b) row = row ((f, scheme[i], b) in least ? sprintf(" %.3g |", 1e6*least[f, scheme[i], b]) : " - |")
        print row
    }
}
