# drift-crank.gp: gaps, one closed phase enlarged, energy.  Wants style and picture; reads crank-*.csv.
load style
set terminal pngcairo size 820,760 font 'sans,10' noenhanced background '#ffffff'
set output picture
acceleration = 'crank-half-explicit-acceleration.csv'
velocity = 'crank-half-explicit.csv'
set multiplot layout 3,1 margins 0.1,0.97,0.07,0.95 spacing 0.02,0.1
set xrange [0:150]
set xlabel 'time (ms)' offset 0,0.6
set ylabel 'gap of corner 1 (mm)'
set key at graph 1,1.02 right bottom horizontal maxrows 1 width -2
plot acceleration using (1e3*column("t")):(1e3*column("corner1.gap")) with lines ls 1 dt 2 title 'acceleration level', \
     velocity using (1e3*column("t")):(1e3*column("corner1.gap")) with lines ls 2 title 'velocity level'
set xrange [7:16]
set yrange [-20:5]
set ylabel 'the same in micrometres'
plot acceleration using (1e3*column("t")):(1e6*column("corner1.gap")) with linespoints ls 1 dt 2 ps 0.4 title 'acceleration level', \
     velocity using (1e3*column("t")):(1e6*column("corner1.gap")) with linespoints ls 2 ps 0.4 title 'velocity level', \
     0 with lines lc rgb '#999999' lw 0.7 notitle
set xrange [0:150]
set autoscale y
set ylabel 'energy (J)'
plot acceleration using (1e3*column("t")):"energy" with lines ls 1 dt 2 title 'acceleration level', \
     velocity using (1e3*column("t")):"energy" with lines ls 2 title 'velocity level', \
     'crank-fine.csv' using (1e3*column("t")):"energy" with lines ls 9 dt 3 title 'order 4, step 1e-6'
unset multiplot
