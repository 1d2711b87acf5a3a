#!/usr/bin/env bash
# Does what a page of the documentation says: every fenced block is run, in order, in a folder of its own.
#
# usage: test/docs.sh PREFIX WORK PAGE      PREFIX: an installed carom; LONG=1: blocks marked `long`, too
#
# The first word behind ``` is the language, the others are marks.
#   sh        run by the shell; a command that fails ends it.  status=2: the exit status that is expected
#   console   lines that start with "$ " are run; the others must be printed, in this order; loose: whatever their numbers are
#   yaml      a model: checked, and kept with file=NAME; add=NAME: sections, checked behind those of that model
#   c         file=NAME: kept; else statements, compiled into a main and run, behind those of a line <!-- given: ... -->
#   python    run, where there is a Python with NumPy
#   text json cmake html diff   samples, not looked at (diff: test/new_part.cmake applies them)
# long: only in the long tests.  skip=REASON: not run, because it
#   build     builds the sources              system     changes the machine
#   study     is run by test/studies.sh       package    needs what carom does not need
#   fragment  means nothing by itself         interrupt  wants somebody at the keyboard
#   browser   wants a browser
set -uo pipefail
export LC_ALL=C
prefix=$(cd "$1" && pwd)
page=$(cd "$(dirname "$3")" && pwd)/$(basename "$3")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$2/$(basename "$page" .md)
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
export PATH=$prefix/bin:$PATH PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib COLUMNS=80
failures=0 run=0

complain() {
    failures=$((failures + 1))
    echo "$@"
}

fault() { # PLACE WHAT
    complain "$1: $2"
}

study() { # PLACE NAME
    [[ -x $here/../studies/$2.sh ]] || complain "$1: there is no study $2"
}

# Are the lines of .expected among those of .printed, in order?  Numbers may differ by 2 %, or all be below 1e-6; times and $loose blocks may differ more.
expected() {
    awk -v loose="$loose" 'function number(s) { return s ~ /^[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$/ }
        function size(x) { return x < 0 ? -x : x }
        function near(x, y) { return loose || size(x - y) <= 0.02*size(x) || (size(x) < 1e-6 && size(y) < 1e-6) }
        function same(s, w, i, n, a, b, free) {
            gsub(/[,;:()]/, " & ", s); gsub(/[,;:()]/, " & ", w)
            n = split(s, a, " ")
            if (split(w, b, " ") != n) return 0
            free = s ~ /of CPU time/
            for (i = 1; i <= n; ++i) if (a[i] != b[i] && !(number(a[i]) && number(b[i]) && (free || near(a[i], b[i])))) return 0
            return 1
        }
        NR == FNR { want[++n] = $0; next }
        k < n && want[k + 1] ~ /^ *\.\.\.$/ { ++k }
        k < n && same($0, want[k + 1]) { ++k }
        END { while (k < n && want[k + 1] ~ /^ *\.\.\.$/) ++k; if (k < n) { print "not printed: " want[k + 1]; exit 1 } }' .expected .printed
}

block() { # PLACE STATUS [.expected LOOSE]: what is in .block.sh
    local status=0 loose=${4:-}
    run=$((run + 1))
    bash -e .block.sh >.printed 2>&1 </dev/null || status=$?
    if ((status != $2)); then
        complain "$1: exit status $status instead of $2:"
        cat .block.sh .printed
    elif [[ -n ${3:-} ]] && ! expected >.missing; then
        complain "$1: $(cat .missing); it was:"
        cat .printed
    fi
}

python() { # PLACE
    local python
    for python in /usr/bin/python3 python3; do
        "$python" -c 'import numpy' 2>/dev/null || continue
        echo "PYTHONPATH=$(echo "$prefix"/lib/python3*/*-packages) $python -B .block.py" >.block.sh
        block "$1" 0
        return
    done
    echo "$1: not run, there is no NumPy"
}

awk -v page="$(basename "$page")" -f "$here/docs.awk" "$page" >.script || exit 1
. ./.script
echo "$run run, $failures wrong"
((failures == 0))
