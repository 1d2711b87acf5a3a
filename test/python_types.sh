#!/bin/sh
# The type hints of the Python package agree with its code: mypy, where it is installed.
command -v mypy >/dev/null || { echo "skipped: no mypy (Debian: apt-get install mypy)"; exit 77; }
cd "$(dirname "$0")/../python" && exec mypy --ignore-missing-imports --cache-dir=/dev/null carom
