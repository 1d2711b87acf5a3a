#!/usr/bin/env bash
# Messages that docs/troubleshooting.md explains are messages of the program, and every kind of warning stands there.
#
# usage: test/troubleshooting.sh SOURCE
set -uo pipefail
export LC_ALL=C
cd "$1" || exit 1
page=docs/troubleshooting.md failures=0 looked=0

# The first cell of each row under "Errors": its messages, cut where a name or a number stands.
while IFS= read -r part; do
    ((${#part} < 8)) && continue
    looked=$((looked + 1))
    grep -rqF -- "$part" src || { echo "$page: no message of the program has '$part'"; failures=$((failures + 1)); }
done < <(awk '/^## /{errors = /^## Errors/} errors && /^\| `/' "$page" | cut -d'|' -f2 | grep -oE '`[^`]+`' |
    sed -E "s/\`//g; s/'[^']*'/\n/g; s/ ?\.\.\. ?/\n/g; s/NAME/\n/g; s/; did you mean.*//" | sed -E 's/^ +//; s/ +$//')
((looked > 10)) || { echo "$page: only $looked messages were found on the page"; failures=$((failures + 1)); }

# Kinds of warnings, as src/diagnosis adds them.
while IFS= read -r kind; do
    grep -qE "^### (.*, )?$kind(,.*)?$" "$page" || { echo "$page: nothing about the warning '$kind'"; failures=$((failures + 1)); }
done < <(grep -ohE 'add\(w, "[a-z-]+"' src/diagnosis/*.c | grep -oE '"[a-z-]+"' | tr -d '"' | sort -u)
exit $((failures > 0))
