# newmark-naive.gp: the ball with contact inside the accelerations.  Wants style, picture; reads naive-CASE.csv.
load style
set terminal pngcairo size 1000,620 font 'sans,10' noenhanced background '#ffffff'
set output picture
set datafile columnheaders
set xlabel 't (s)'
set xrange [0:4]
set key right top
cases = 'velocity-1 velocity-half position-1 position-1.01'
exact = '1 1 1 1.01'
array title[4] = ['velocity level, gamma = 1', 'velocity level, gamma = 1/2', 'position level, gamma = 1, from 1', 'position level, gamma = 1, from 1.01']
set multiplot layout 2,2 margins 0.06,0.985,0.08,0.95 spacing 0.07,0.12
do for [k = 1:4] {
    set label 1 title[k] at graph 0.02,1.05
    if (k == 2) { set yrange [0:8] } else { set yrange [0:1.2] }
    if (k > 1) { unset key }
    plot 'naive-'.word(cases, k).'.csv' using 't':'q' with lines ls 1 title 'height (m)', 'naive-exact-'.word(exact, k).'.csv' using 't':'q' with lines ls 9 title 'exact'
}
unset multiplot
