#!/bin/sh
# The tests of the Python package: python.sh LIBRARY PROGRAM COMPILER, by the first Python that has NumPy.
here=$(dirname "$0")
export CAROM_LIBRARY="$1" CAROM_PROGRAM="$2" CAROM_CC="$3" PYTHONDONTWRITEBYTECODE=1
for python in ${CAROM_PYTHON:-python3 /usr/bin/python3}; do
    if "$python" -c 'import numpy' 2>/dev/null; then exec "$python" -m unittest discover -s "$here/../python/tests"; fi
done
echo "skipped: no python3 with NumPy here (Debian: python3-numpy; another one: CAROM_PYTHON=...)"
exit 77
