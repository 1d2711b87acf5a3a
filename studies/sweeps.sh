#!/usr/bin/env bash
# Sweeps with known answers: ball on a vibrating table, grazing, basins, gear rattle, clearance of the slider-crank.
source "$(dirname "${BASH_SOURCE[0]}")/common.inc"

sweep() { # FILE MODEL OPTIONS: a table; a run that fails ends the study
    local file=$1
    shift
    "$carom" sweep "$@" --quiet --out $file
}
kept() { tee -a rows.md; } # for the table of all five
rm -f rows.md
calculate() { awk "BEGIN { pi = atan2(0, -1); print $1 }"; }

# -- the ball: period doubling ---------------------------------------------------------------------------------------------------

# The square of the distance of the two velocities grows linearly behind the doubling: a straight line through it ends where that begins.
doubling='FNR == NR { if (FNR > 1) Gamma[$1] = $2; next } FNR > 1 { if (($1 in last)) d[$1] = ($3 - last[$1])^2; last[$1] = $3 }
    END { for (k in d) if (d[k] > 1e-3) { n++; x += Gamma[k]; y += d[k]; xx += Gamma[k]^2; xy += Gamma[k]*d[k] } slope = (n*xy - x*y)/(n*xx - x*x); printf "%.4f", (x - y/slope)/n }'
echo "| vibrating table: e | velocity after impacts, theory | ours, at Gamma 0.1 below the doubling | Gamma where the period doubles, theory | ours |"
echo "|---|---|---|---|---|"
for e in 0.4 0.5 0.6; do
    critical=$(calculate "sqrt((pi*(1 - $e)/(1 + $e))^2 + (2*(1 + $e^2)/(1 + $e)^2)^2)")
    sweep orbit.csv "$studies/vibrating-table.yaml" --set e=$e --vary Gamma=$(calculate "$critical - 0.1") --transient 400 --section 'impact table' --count 1 --observe "x'"
    sweep doubling.csv "$studies/vibrating-table.yaml" --set e=$e --vary Gamma=$(calculate "$critical + 0.004 \":\" $critical + 0.016 \":7\"") --transient 1000 --section 'impact table' --count 2 --observe "x'"
    awk -F, -v e=$e -v c="$critical" -v ours="$(awk -F, "$doubling" doubling.csv doubling.csv.section.csv)" 'NR == 2 { printf "| %s | %.6f | %.6f | %.4f | %s |\n", e, atan2(0, -1), $3, c, ours }' orbit.csv.section.csv | kept
done
sweep table.csv "$studies/vibrating-table.yaml" --step 0.1 --vary Gamma=1.2:2:201 --transient 600 --section 'impact table' --count 30 --observe "x'"
echo

# -- the oscillator: grazing ------------------------------------------------------------------------------------------------------

sweep before.csv "$studies/grazing.yaml" --vary a=0.9995:1.0005:11 --transient 100 --end 400 --observe impacts --observe 'max(x)'
echo "| grazing: amplitude a without the stop | largest x, theory | ours | impacts in 300 |"
echo "|---|---|---|---|"
awk -F, 'NR > 3 && NR < 11 { printf "| %.4f | %s | %d |\n", $2, ($2 < 1.00001 ? sprintf("%.4f | %.4f", $2, $6) : "1 | -"), $5 }' before.csv
echo
# One impact a period T: x = A cos(w t + psi) + E(t) (B cos v t + C sin v t) with x(0) = x(T) = 1 and x'(0) = -e x'(T), a quadratic equation for B.
sweep after.csv "$studies/grazing.yaml" --vary a=1.4:2:4 --transient 300 --section 'impact stop' --count 1 --observe "x'"
echo "| one impact a period: a | velocity after it, theory | ours |"
echo "|---|---|---|"
awk -F, 'FNR == NR { if (FNR > 1) a[$1] = $2; next } FNR > 1 {
    w = 2.2; zeta = 0.1; e = 0.6; v = sqrt(1 - zeta^2); T = 2*atan2(0, -1)/w; E = exp(-zeta*T); c = cos(v*T); s = sin(v*T); A = a[$1]
    r = (1 - E*c)/(E*s)                                                   # C = r B, from x(0) = x(T)
    k = -(zeta*(1 + e) - v*r - e*v*E*(r*c - s))/((1 + e)*A*w)             # sin psi = k B
    p = k^2 + 1/A^2; q = -2/A^2; z = 1/A^2 - 1                            # sin^2 + cos^2 = 1, cos psi = (1 - B)/A
    best = ""
    for (sign = -1; sign <= 1; sign += 2) {
        B = (-q + sign*sqrt(q^2 - 4*p*z))/(2*p); after = -A*w*k*B - zeta*B + v*r*B
        if (after < 0 && (best == "" || after < best)) best = after       # it leaves the stop; the faster one is stable
    }
    printf "| %.1f | %.6f | %.6f |\n", A, best, $3 }' after.csv after.csv.section.csv | kept
sweep grazing.csv "$studies/grazing.yaml" --vary a=0.9:1.6:211 --transient 150 --section 'every 2*pi/w' --count 40 --observe x
echo

# -- the ball: basins ------------------------------------------------------------------------------------------------------------

sweep basins.csv "$studies/vibrating-table.yaml" --set Gamma=0.95 --set e=0.75 --step 0.2 --vary "x'=-4:8:37" --vary x=1:13:37 --transient 502.7 --end 540.5 --observe impacts --observe 'max(x)'
echo "| basins, Gamma = 0.95, e = 0.75: orbit | velocity, theory | height, theory | ours, of all its runs | runs of 1369 |"
echo "|---|---|---|---|---|"
# Height: Gamma sin phi + v^2/2.  Six periods of the table are observed: six impacts, three, or none.
awk -F, 'NR > 1 && $6 == 0 { if (!k || $7 < low) low = $7; if (!k || $7 > high) high = $7; ++k } END { printf "| at rest on the table | - | 0.9500 | %.4f to %.4f | %d |\n", low, high, k }' basins.csv
for n in 1 2; do
    awk -F, -v n=$n 'NR > 1 && $6 == 6/n { if (!k || $7 < low) low = $7; if (!k || $7 > high) high = $7; ++k }
        END { pi = atan2(0, -1); C = n*pi/7/0.95; printf "| one impact in %d period%s | %.4f | %.4f | %.4f to %.4f | %d |\n", n, (n > 1 ? "s" : ""), n*pi, 0.95*sqrt(1 - C^2) + (n*pi)^2/2, low, high, k }' basins.csv | kept
done
awk -F, 'NR > 1 && $6 != 0 && $6 != 3 && $6 != 6 { ++k } END { printf "| another one | - | - | - | %d |\n", k }' basins.csv
echo

# -- gear rattle ------------------------------------------------------------------------------------------------------------------

# The idle gear starts on its flank (gap 0) with the speed of the driving gear.
sweep threshold.csv "$models/gear-rattle.yaml" --scheme mixed --step 1e-4 --end 0.2 --transient 0.1 --vary idle.angle=0.0025 --vary w=120,160,200 --vary drag=2e-4:12e-4:51 --observe 'max(front.gap)'
echo "| gear rattle: w (rad/s) | silent above a drag of, theory | ours |"
echo "|---|---|---|"
awk -F, 'NR > 1 { if ($7 > 1e-10) loud[$3] = $4; else if (!($3 in silent)) silent[$3] = $4 }
    END { for (w = 120; w <= 200; w += 40) printf "| %d | %.3e | %.2e to %.2e |\n", w, 1e-4*0.02*w^2/sqrt(80^2 - (0.02*w)^2), loud[w], silent[w] }' threshold.csv | kept
sweep rattle.csv "$models/gear-rattle.yaml" --scheme mixed --step 1e-4 --end 0.25 --transient 0.1 --vary idle.angle=0.0025 --vary drag=1e-4:10e-4:31 --vary w=80:240:33 --observe energy.impact --observe 'max(front.gap)'
echo

# -- clearance of the slider-crank ---------------------------------------------------------------------------------------------------

# Up to its first impact the motion does not depend on the clearance c: that impact comes when the slider is c off its line.
sample='c=normal:1e-3:1e-4:400:1'
sweep first.csv "$models/slider-crank.yaml" --scheme mixed --step 1e-4 --vary $sample --section 'impact corner1' --count 1 --observe slider.y
sweep free.csv "$models/slider-crank.yaml" --scheme mixed --step 1e-4 --set c=1 --end 0.005 --vary mu=0 --section 'every 1e-5' --observe slider.y
sweep clearance.csv "$models/slider-crank.yaml" --vary $sample --observe energy.impact --observe impacts --observe 'max(abs(slider.y))'
echo "| clearance, 400 values of N(1 mm, 0.1 mm): quantile | first impact (ms), theory | ours |"
echo "|---|---|---|"
for q in 0.05 0.5 0.95; do
    k=$(calculate "int(400*$q + 0.5)")
    c=$(awk -F, 'NR > 1 { print $2 }' first.csv | sort -g | sed -n ${k}p)
    ours=$(awk -F, 'NR > 1 { print $2 }' first.csv.section.csv | sort -g | sed -n ${k}p)
    awk -F, -v c="$c" -v ours="$ours" -v q=$q 'NR > 1 && !done { if ($3 >= c) { printf "| %d %% | %.4f | %.4f |\n", 100*q + 0.5, 1000*(t + ($2 - t)*(c - y)/($3 - y)), 1000*ours; done = 1 } t = $2; y = $3 }' free.csv.section.csv | kept
done
echo
echo "| clearance: after 0.15 s | mean | standard deviation |"
echo "|---|---|---|"
while read -r column what factor; do
    awk -F, -v i=$column -v what="${what//_/ }" -v f=$factor 'NR > 1 { x = f*$i; s += x; ss += x*x; ++n } END { m = s/n; printf "| %s | %.4f | %.4f |\n", what, m, sqrt(ss/n - m*m) }' clearance.csv
done <<'END'
2 clearance_(mm) 1000
7 largest_offset_of_the_slider_(mm) 1000
5 energy_lost_in_impacts_(J) 1
6 impacts 1
END

# -- one row of each ---------------------------------------------------------------------------------------------------------------

echo
echo "| sweep | quantity | theory | ours |"
echo "|---|---|---|---|"
awk -F' *[|] *' '$2 == "0.5" { print "| vibrating table, e = 1/2 | Gamma where the period doubles | " $5 " | " $6 " |" }
    $2 == "1.6" { print "| oscillator with a stop, a = 1.6 | velocity after its impact | " $3 " | " $4 " |" }
    $2 == "one impact in 2 periods" { print "| basins, one impact in 2 periods | height | " $4 " | " $5 " |" }
    $2 == "160" { print "| gear rattle, 160 rad/s | silent above a drag of | " $3 " | " $4 " |" }
    $2 == "50 %" { print "| clearance, median | first impact (ms) | " $3 " | " $4 " |" }' rows.md

draw sweeps.gp "pictures=1"
