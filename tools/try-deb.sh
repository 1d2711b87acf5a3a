#!/bin/sh
# Installs the packages of `make deb` in a bare Debian root and uses them there: the program, C, C++ and Python.
# Usage: tools/try-deb.sh build/deb   (needs root, mmdebstrap and Debian's archive; the release is this system's)
set -eu
folder=$(realpath "${1:-build/deb}")
command -v mmdebstrap >/dev/null || { echo "try-deb.sh: mmdebstrap is not installed" >&2; exit 2; }
ls "$folder"/carom_*.deb >/dev/null || { echo "try-deb.sh: no packages in $folder; make deb makes them" >&2; exit 2; }
. /etc/os-release
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cp "$folder"/*.deb "$root"
cat >"$root/use" <<'END'
set -eu
export DEBIAN_FRONTEND=noninteractive HOME=/tmp
exec >&2
apt-get update -qq
apt-get install -qq -y --no-install-recommends /tmp/*.deb gcc g++ libc6-dev pkg-config >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
cd /tmp
carom --version
carom run /usr/share/carom/models/slider-crank.yaml --out run.h5
carom info run.h5 >/dev/null
carom view run.h5 --out page.html
test -s page.html
cc -std=c17 /usr/share/doc/carom/examples/c/two_ways.c $(pkg-config --cflags --libs carom) -lm -o two_ways
./two_ways
c++ -std=c++17 /usr/share/doc/carom/examples/cpp/two_balls.cpp $(pkg-config --cflags --libs carom) -o two_balls
./two_balls
python3 -c "import carom; r = carom.run('/usr/share/carom/models/bouncing-ball.yaml'); print(carom.library_path(), len(r.t))"
test -s /usr/share/man/man1/carom.1 || test -s /usr/share/man/man1/carom.1.gz
apt-get purge -qq -y carom libcarom0 libcarom-dev python3-carom >/dev/null 2>&1
left=$(find /usr -name '*carom*')
test -z "$left" || { echo "left after purging: $left"; exit 1; }
END
if mmdebstrap --quiet --variant=apt --customize-hook="cp $root/*.deb $root/use \"\$1/tmp\"" --customize-hook='chroot "$1" sh /tmp/use' "$VERSION_CODENAME" - >/dev/null; then echo "1 passed, 0 failed"; else echo "0 passed, 1 failed"; exit 1; fi
