# empirical-orders.gp: errors of one scheme over the step on ball and oscillator.  Wants style, picture, scheme; reads PROBLEM-{q,v}-NORM.csv.
load style
set terminal pngcairo size 1000,380 font 'sans,10' noenhanced background '#ffffff'
set output picture
set datafile missing NaN
set logscale xy
set format '%.0e'
set xlabel 'step (s)'
set xtics 10
set ytics 10
set yrange [5e-4:2]
set xrange [1e-3:0.4]
curves = 'q-l1 q-hausdorff v-l1 v-hausdorff v-l2 v-l4'
array title[6] = ['q, l1', 'q, hausdorff', "q', l1", "q', hausdorff", "q', l2", "q', l4"]
set multiplot layout 1,2 margins 0.07,0.83,0.13,0.92 spacing 0.07,0.02
do for [k = 1:2] {
    problem = word('ball oscillator', k)
    set label 1 (k == 1 ? 'bouncing ball: ' : 'impacting oscillator: ').scheme at graph 0.02,1.05
    if (k == 1) { set key at screen 0.84,0.9 left top vertical } else { unset key }
    plot for [i = 1:6] problem.'-'.word(curves, i).'.csv' using (strcol(1) eq scheme ? $2 : NaN):3 with linespoints ls i title title[i], \
         x with lines lc rgb '#666666' dt 3 lw 1.3 title 'order 1', sqrt(x) with lines lc rgb '#666666' dt 2 title 'order 1/2'
}
unset multiplot
