# chen-curves.gp: position and velocity of the ball, end and pressure of the bar.  Wants style, picture; reads ball-CASE.csv, pressure-CASE.csv.
load style
set terminal pngcairo size 900,560 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 2,2 margins 0.07,0.985,0.08,0.95 spacing 0.08,0.11
set datafile columnheaders
cases = 'alpha moreau newmark'
names = 'generalized-alpha Moreau-Jean Newmark'
set key right top
set xrange [0:4]
set xlabel 't (s)' offset 0,0.6
set label 1 'ball, h = 1e-3: position (m)' at graph 0.02,1.05
plot for [i = 1:3] 'ball-'.word(cases, i).'.csv' using 't':'q' with lines ls i title word(names, i), 'ball-exact.csv' using 't':'q' with lines ls 9 title 'exact'
unset key
set label 1 'velocity (m/s)' at graph 0.02,1.05
plot for [i = 1:3] 'ball-'.word(cases, i).'.csv' using 't':"q'" with lines ls i, 'ball-exact.csv' using 't':"q'" with lines ls 9
set xrange [0.4:1.5]
set label 1 'bar, h = 2e-3: end at the wall (m)' at graph 0.02,1.05
exact(t) = t < 0.5005 ? -10*t : t < 1.1672 ? -5.005 : -5.005 + 10*(t - 1.1672)
plot for [i = 1:3] 'pressure-'.word(cases, i).'.csv' using 't':'bar.start.u' with lines ls i, exact(x) with lines ls 9
set xrange [0.45:1.25]
set yrange [0:400]
set label 1 'pressure at the wall' at graph 0.02,1.05
plot for [i = 1:3] 'pressure-'.word(cases, i).'.csv' using 't':(column('wall.impulse')/2e-3) with lines ls i lw 1, (x > 0.5005 && x < 1.1672 ? 300 : 0) with lines ls 9
unset multiplot
