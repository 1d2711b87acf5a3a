# rest.awk: how a body comes to rest, from CSV with every step in it.
# awk -F, -v h=STEP -v contacts="A B" -f rest.awk RESULT.csv
#
# Prints cells of a Markdown row.
NR == 1 {
    for (i = 1; i <= NF; ++i) column[$i] = i
    n = split(contacts, name, " ")
    next
}
{
    pressed = 1
    for (i = 1; i <= n; ++i) {
        impulse = $column[name[i] ".impulse"]/h
        force = $column[name[i] ".force"]
        push[i] = impulse > 0 && (force/impulse - 1)^2 < 1e-12 ? impulse : impulse + force # schemes that know impulses only record them twice
        if (!(push[i] > 0)) pressed = 0
        if ($column[name[i] ".gap"] < deepest) deepest = $column[name[i] ".gap"]
    }
    if (pressed && !before) since = $column["t"]
    before = pressed
    energy = $column["energy"]
    if (NR == 2 || energy > most) most = energy
}
END {
    printf "%.1e | %s |", deepest < 0 ? -deepest : 0, before ? sprintf("%.4f", since) : "never"
    for (i = 1; i <= n; ++i) printf "%s%.5f", (i > 1 ? ", " : " "), push[i]
    printf " | %.4f | %.2f", energy, most
}
