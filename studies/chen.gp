# chen.gp: convergence of the ball, energy of two balls and of the bar.  Wants style, picture; reads ball-q.csv, balls-CASE.csv, bar-CASE.csv.
load style
set terminal pngcairo size 1000,360 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 1,3 margins 0.07,0.985,0.14,0.92 spacing 0.06,0.02
set key right bottom
set datafile missing NaN
set logscale xy
set format '%.0e'
set xtics 10
set ytics 10
set xrange [3e-4:0.06]
set xlabel 'step (s)'
schemes = 'generalized-alpha:rho=0.8 moreau-jean:theta=1 newmark:gamma=1:beta=0.5625'
names = 'generalized-alpha Moreau-Jean Newmark'
set label 1 'ball: relative L1 error of q' at graph 0.02,1.05
plot for [i = 1:3] 'ball-q.csv' using (strcol(1) eq word(schemes, i) ? $2 : NaN):3 with linespoints ls i title word(names, i), x with lines lc rgb '#666666' dt 3 lw 1.3 title 'order 1'
unset logscale
set format '%g'
set xtics autofreq
set ytics autofreq
set datafile columnheaders
set xrange [0:2]
set yrange [0:*]
set key right top
set xlabel 't (s)'
set label 1 'two balls, k = 1e4 N/m, h = 1e-3: energy (J)' at graph 0.02,1.05
cases = 'alpha moreau newmark'
plot for [i = 1:3] 'balls-'.word(cases, i).'.csv' using 't':(column('energy') - 14) with lines ls i title word(names, i), 'balls-exact.csv' using 't':(column('energy') - 14) with lines ls 9 title 'exact'
set xrange [0:1.5]
set yrange [395:510]
set key left bottom
set label 1 'bar: energy (J)' at graph 0.02,1.05
plot 'bar-alpha.csv' using 't':'energy' with lines ls 1 title 'generalized-alpha, 2e-3', 'bar-newmark.csv' using 't':'energy' with lines ls 3 title 'Newmark, 2e-3', \
     'bar-euler.csv' using 't':'energy' with lines ls 2 title 'Moreau-Jean, 2e-3', 'bar-euler-small.csv' using 't':'energy' with lines ls 2 dt 2 title '2e-4', \
     'bar-euler-smaller.csv' using 't':'energy' with lines ls 2 dt 3 title '2e-5'
unset multiplot
