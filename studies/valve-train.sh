#!/usr/bin/env bash
# A mechanism tuned by `carom optimise`: damper and stop of a valve train that floats.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"
float='1e3*rms(x + lash - s)' # mm

run() { simulate "$1" --out "$2.csv"; }
of() { "$carom" gradient "$1" --of "$2" --by c --one-sided --json 2>/dev/null | sed -n 's/^{"value": \([^,]*\),.*/\1/p'; }
row() { # NAME MODEL
    awk -v name="$1" -v c="$(sed -n 's/.*[{ ]c: \([^,]*\),.*/\1/p' "$2")" -v stop="$(sed -n 's/.*stop: \([0-9.e-]*\)}.*/\1/p' "$2")" -v a="$(of "$2" "$float")" -v b="$(of "$2" "1e3*max(x + lash - s)")" \
        -v d="$(of "$2" "max(k*x + preload + c*x')")" 'BEGIN { printf "| %s | %.3f | %.4f | %.4f | %.4f | %.1f |\n", name, c, 1e3*stop, a, b, d }'
}

cp "$studies/valve-train.yaml" given.yaml
"$carom" optimise given.yaml --minimise "$float" --by c=1:40,stop=0.0091:0.012 --restarts 5 -o history.csv --best tuned.yaml --json >tuned.json
"$carom" optimise given.yaml --set stop=0.02 --minimise "$float" --by c=1:40,preload=100:300 --subject-to "max(k*x + preload + c*x') <= 380" --best limited.yaml --json >limited.json

echo "| valve train | damper, N s/m | stop, mm | rms float, mm | largest float, mm | largest load, N |"
echo "|---|---|---|---|---|---|"
row given given.yaml
row tuned tuned.yaml
echo

echo "| beside the optimum | rms float, mm | derivative by the stop |"
echo "|---|---|---|"
stop=$(sed -n 's/.*"stop": \([0-9.e-]*\)}.*/\1/p' tuned.json | head -1)
for part in 0.999 0.9999 1.0001 1.001; do
    "$carom" gradient tuned.yaml --set "stop=$stop*$part" --of "$float" --by stop --json 2>/dev/null |
        sed -n 's/^{"value": \([^,]*\), "gradient": {"stop": \([^}]*\)}.*/\1 \2/p' | awk -v part=$part '{ printf "| stop times %s | %.4f | %.0f |\n", part, $1, $2 }'
done
echo

awk '/"parameters"/ { gsub(/[{}",:]/, " "); c = $3; p = $5 }
    /"objective":/ { gsub(/[,]/, ""); f = $2 }
    /"multipliers"/ { gsub(/[\[\],]/, " "); m = $2 }
    END { print "| without the stop, load at most 380 N | damper, N s/m | preload, N | rms float, mm | multiplier, mm/N |"; print "|---|---|---|---|---|"
          printf "| optimum | %.2f | %.1f | %.4f | %.4f |\n", c, p, f, m }' limited.json

run given.yaml given
run tuned.yaml tuned
mv history.csv history.txt # how many runs a search takes depends on the last bits
draw valve-train.gp "output='valve-train.png'"
