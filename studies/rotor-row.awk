# rotor-row.awk: a row of a Markdown table from a ledger (JSON) and the rows of its run (CSV).  Wants name.
function number(key) { return match($0, "\"" key "\": [-+0-9.e]+") ? substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4) : "" }
FILENAME ~ /\.json$/ {
    if ($0 ~ /"steps": [0-9]+,$/) steps = number("steps")
    if ($0 ~ /"inner":/) inner = number("steps")
    if ($0 ~ /"impacts":/) impacts = number("impacts")
    if ($0 ~ /"penetration":/) penetration = number("penetration")
    next
}
FNR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i }
END {
    share = name ~ /half/ ? sprintf("%.2f %%", 100*inner/steps) : "-"
    if (name == "located") steps = inner
    printf "| %s | %d | %s | %.4e | %.4e | %.1e | %d |\n", name, steps, share, $column["journal.y"], $column["journal.z"], penetration, impacts
}
