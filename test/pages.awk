# pages.awk: are the tables of a page those that its study prints?
# awk -f pages.awk REPORT PAGE
#
# Rows of a table whose header the study prints, perhaps for several tables, must be among its rows, each once.  A table
# of the page may leave out rows, and columns other than the first.  Numbers may differ by 1 %, below 1e-9 by anything;
# times by a factor of 5, orders by 0.01 (the slope of errors that differ by 1 %, and its last digit); what chaotic motion
# leaves is free, and so are the numbers of rows that begin with a name in a line
#   <!-- rounding decides: NAME, NAME -->
# Prints the number of rows compared, after a line for each that is missing.
function number(s) { return s ~ /^[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$/ }
function bare(s) { gsub(/ /, "", s); return s }
function size(x) { return x < 0 ? -x : x }
function alike(x, y) { return size(x - y) <= 0.01*size(x) || (size(x) < 1e-9 && size(y) < 1e-9) }

function same_cell(s, w, i, n, a, b) {
    if (s == w || loose) return 1
    gsub(/[,*%]/, " ", s); gsub(/[,*%]/, " ", w)
    n = split(s, a, " ")
    if (split(w, b, " ") != n) return 0
    for (i = 1; i <= n; ++i) if (a[i] != b[i] && !(number(a[i]) && number(b[i]) && alike(a[i], b[i]))) return 0
    return 1
}

# Slopes of errors, which may themselves differ by 1 %.
function same_order(x, y) { return number(x) && number(y) && size(x - y) < 0.015 }

function same(s, w, i, n, a, b) {
    n = split(s, a, "|")
    loose = 0
    if (split(w, b, "|") != n || !same_cell(a[2], b[2])) return 0
    for (i in chaotic) if (index(a[2], " " chaotic[i] " ") == 1) loose = 1
    for (i = 1; i <= n; ++i) if (!same_cell(a[i], b[i]) && !(i in timed && a[i] + 0 > 0 && a[i] < 5*b[i] && b[i] < 5*a[i]) && !(i in free) && !(i in slope && same_order(bare(a[i]), bare(b[i])))) return 0
    return 1
}

function cells_of(head, i, n, a) { # a cell without a name belongs to the one before
    split("", free); split("", timed); split("", slope)
    n = split(head, a, "|")
    for (i = 1; i <= n; ++i) {
        if (a[i] ~ /time|cost|ns per|\(us\)/ || (a[i] ~ /^ *$/ && (i - 1) in timed)) timed[i] = 1
        if (a[i] ~ /^ *order/) slope[i] = 1
        if (a[i] ~ /minus event-driven|energy at 0.4 s|Newton iterations|^ (impacts|at 1.5 s|most) $/) free[i] = 1
    }
}

# places[]: where the cells of a head are in a wider one with the same first cell, in order.
# Returns their number, 0: it is another table.
function places_of(head, wide, i, k, n, m, a, b) {
    split("", places)
    n = split(head, a, "|")
    m = split(wide, b, "|")
    if (a[2] != b[2]) return 0
    for (i = k = 1; i <= n; ++i) {
        while (k <= m && b[k] != a[i]) ++k
        if (k > m) return 0
        places[i] = k++
    }
    return n
}

# Tables of the study that this head belongs to: those with the same head, or else with more columns.
function sources_of(head, i, k, n) {
    split("", source)
    sources = 0
    for (i = 1; i <= heads; ++i) {
        if (head in rows && printed[i] != head) continue
        n = places_of(head, printed[i])
        if (n) { source[++sources] = printed[i]; for (k = 1; k <= n; ++k) place[sources, k] = places[k] }
    }
}

function part(row, s, n, k, a, text) {
    split(row, a, "|")
    text = a[place[s, 1]]
    for (k = 2; k <= n; ++k) text = text "|" a[place[s, k]]
    return text
}

function found(line, s, n, row, a) {
    n = split(head, a, "|")
    for (s = 1; s <= sources; ++s)
        for (row = 1; row <= rows[source[s]]; ++row)
            if (!((source[s], row) in used) && same(line, part(table[source[s], row], s, n))) {
                used[source[s], row] = 1
                return 1
            }
    return 0
}

FNR == 1 { ++file; head = "" }
/^<!-- rounding decides: / { sub(/^<!-- rounding decides: /, ""); sub(/ -->$/, ""); split($0, chaotic, ", ") }
!/^\|/ { head = ""; next }
head == "" { head = $0; if (file == 2) { cells_of(head); sources_of(head) } next }
/^\|-/ { next }
file == 1 { if (!(head in rows)) printed[++heads] = head; table[head, ++rows[head]] = $0; next }
sources == 0 { next }
{
    ++compared
    if (!found($0)) print FILENAME ":" FNR ": the study does not print " $0
}
END { print compared + 0 }
