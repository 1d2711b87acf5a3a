#!/usr/bin/env bash
# The gallery says what the models do now, and the pictures of the pages are there, used and small.
#
# usage: test/gallery.sh BUILD      Words must be the same; numbers within 2 %, or both below 1e-6.  Where many bodies touch, the motion is chaotic and
# depends on the last bits of the mathematical library: within a factor of two.  So does a stiff beam that strikes several times: E + 1e-13 E has 12 impacts, E - 1e-13 E 10.
set -euo pipefail
export LC_ALL=C
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
failures=0
complain() {
    echo "$1"
    failures=$((failures + 1))
}

now=$1/test/gallery.md
"$source/tools/docs.sh" "$1" gallery-text "$1/test" >"$now" # ledgers of the tests model_NAME
awk 'function number(s) { return s ~ /^[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$/ }
    function size(x) { return x < 0 ? -x : x }
    NR == FNR { line[FNR] = $0; n = FNR; next }
    { within = $1 == "|" && $2 ~ /^(arch-collapse|crawler-track|drum|hopper|rotating-beam)$/ ? 0.5 : 0.02 }
    {
        k = split($0, a, " ")
        if (k != split(line[FNR], b, " ")) { print "docs/gallery.md:" FNR ": now " $0; exit 1 }
        for (i = 1; i <= k; ++i) {
            same = number(a[i]) && number(b[i]) ? size(a[i] - b[i]) <= within*(size(a[i]) > size(b[i]) ? size(a[i]) : size(b[i])) || (size(a[i]) < 1e-6 && size(b[i]) < 1e-6) : a[i] == b[i]
            if (!same) { print "docs/gallery.md:" FNR ": " b[i] " is now " a[i]; exit 1 }
        }
    }
    END { if (FNR != n) { print "docs/gallery.md has another number of lines"; exit 1 } }' "$source/docs/gallery.md" "$now" || complain "run make docs"

for picture in "$source"/docs/images/*; do
    name=$(basename "$picture")
    grep -q "images/$name)" "$source"/docs/*.md "$source/README.md" || complain "docs/images/$name is on no page"
    (($(stat -c %s "$picture") <= 61440)) || complain "docs/images/$name has more than 60 kB; make docs makes it smaller"
done
while read -r name; do
    [[ -e $source/docs/images/$name ]] || complain "docs/images/$name is missing"
done < <(grep -oh 'images/[^)]*' "$source"/docs/*.md "$source/README.md" | sed 's/^images\///')
((failures == 0))
