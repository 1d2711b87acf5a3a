# beam-figures.awk: the rotating beam against its reference values.
# awk -F, -f beam-figures.awk LEDGER.json EVENTS.csv RESULT.csv
#
# Prints cells of a Markdown row.  Places of the tip before the impact are those of 4 elements, by an explicit scheme of order 8.
BEGIN {
    exact[1] = 0.9972952306021
    exact[2] = 0.9572513419484
    exact[3] = 0.7944412452359
}
function number(name) { return match($0, "\"" name "\": [-+0-9.e]+") ? substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 4) : "" }
FNR == 1 { ++file }
file == 1 {
    if ($0 ~ /"penetration":/) deepest = number("penetration")
    if ($0 ~ /"impacts":/) impacts = number("impacts")
    if ($0 ~ /"steps": [0-9]+,$/) steps = number("steps")
    if ($0 ~ /"newton":/) {
        iterations = number("iterations")
        most = number("max")
    }
    next
}
FNR == 1 {
    for (i = 1; i <= NF; ++i) column[$i] = i
    next
}
file == 2 {
    if (first == "" && $column["kind"] == "impact") first = $column["time"]
    next
}
{
    t = $column["t"]
    for (i = 1; i <= 3; ++i) if (t <= 0.1*i + 1e-9) x[i] = $column["beam.end.x"]
    energy = $column["energy"]
    if (t <= 0.325 + 1e-9) before = energy
    if (t <= 0.4 + 1e-9) after = energy
}
END {
    printf "%.1e | %.1e | %.1e | %.1e | %.5f | %.1e | %d | %.3f | %.3f | %.2f | %d", x[1] - exact[1], x[2] - exact[2], x[3] - exact[3], before, first, \
        deepest, impacts, after, energy, iterations/steps, most
}
