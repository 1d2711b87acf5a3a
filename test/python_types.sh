#!/bin/sh
# The type hints of the Python package agree with its code: mypy, where it is installed.
command -v mypy >/dev/null || { echo "skipped: no mypy (Debian: apt-get install mypy)"; exit 77; }
cd "$(dirname "$0")/../python" || exit 1
check() { MYPYPATH=$PWD mypy --ignore-missing-imports --cache-dir=/dev/null "$@"; }
check carom || exit 1
# What users write: the lines of the README are accepted, and what is no model is not.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^```python/ { on = 1; next } /^```/ { on = 0 } on' ../README.md >"$work/readme.py"
grep -q 'carom.run' "$work/readme.py" || { echo "no lines of Python in README.md"; exit 1; }
check "$work/readme.py" || exit 1
printf 'import carom\ncarom.run(1)\n' >"$work/wrong.py"
if check "$work/wrong.py" >"$work/said"; then echo "carom.run(1) is accepted"; exit 1; fi
grep -q 'Argument 1 to "run" has incompatible type "int"' "$work/said"
