# two-levels-balls.gp: lower ball and energy of the two-ball oscillator, step 2e-3.  Wants style and picture.
load style
set terminal pngcairo size 900,640 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 3,1 margins 0.08,0.985,0.075,0.96 spacing 0.02,0.09
files = 'moreau newmark hht ggl'
names = '"moreau-jean, theta 1" "newmark, gamma 1, beta 0.5" "hht, alpha 0.1" "ggl-alpha"'
line(i) = word('1 5 3 2', i) + 0
set xrange [0:1.8]
set key right top
set ylabel 'lower ball, height (m)'
plot for [i=1:4] 'balls-'.word(files, i).'.csv' using "t":"ground.gap" with lines ls line(i) lw 1.2 title word(names, i), 'balls-exact.csv' using "t":"ground.gap" with lines ls 9 title 'event-driven'
unset key
set ylabel 'lower ball, velocity (m/s)'
plot for [i=1:4] 'balls-'.word(files, i).'.csv' using "t":"ground.gap'" with lines ls line(i) lw 1.2 notitle, 'balls-exact.csv' using "t":"ground.gap'" with lines ls 9 notitle
set ylabel 'energy (J)'
set xlabel 'time (s)' offset 0,0.6
plot for [i=1:4] 'balls-'.word(files, i).'.csv' using "t":(column("energy") - 14) with lines ls line(i) lw 1.2 notitle, 'balls-exact.csv' using "t":(column("energy") - 14) with lines ls 9 notitle
unset multiplot
