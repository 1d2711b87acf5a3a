#!/bin/sh
# The schema of model files against bundled models and typos: schema.sh SCHEMA SOURCES, by the first Python that has YAML.
here=$(dirname "$0")
for python in ${CAROM_PYTHON:-python3 /usr/bin/python3}; do
    if "$python" -c 'import yaml' 2>/dev/null; then
        exec "$python" "$here/schema.py" "$1" "$2/models" "$2/docs" "$2/examples"
    fi
done
echo "skipped: no python3 with YAML here (Debian: python3-yaml; another one: CAROM_PYTHON=...)"
exit 77
