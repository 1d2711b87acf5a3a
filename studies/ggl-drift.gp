# ggl-drift.gp: position of the slider whose guide is held on one level or two.  Wants style and picture; reads guide-*.csv.
load style
set terminal pngcairo size 820,820 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 4,1 margins 0.11,0.97,0.06,0.965 spacing 0.02,0.07
set xrange [0:4]
set key at graph 0.02,0.05 left bottom
set ylabel 'y (mm)'
plot 'guide-half-explicit-acceleration.csv' using "t":(1e3*column("guide.gap")) with lines ls 1 title 'acceleration level', \
     'guide-half-explicit.csv' using "t":(1e3*column("guide.gap")) with lines ls 2 title 'velocity level', \
     'guide-alpha-index3.csv' using "t":(1e3*column("guide.gap")) with lines ls 3 title 'position level', \
     'guide-ggl-midpoint.csv' using "t":(1e3*column("guide.gap")) with lines ls 4 dt 2 title 'both (ggl-midpoint)'
set ylabel 'y (micrometres)'
plot 'guide-half-explicit.csv' using "t":(1e6*column("guide.gap")) with lines ls 2 title 'velocity level', \
     'guide-alpha-index3.csv' using "t":(1e6*column("guide.gap")) with lines ls 3 title 'position level', \
     'guide-ggl-midpoint.csv' using "t":(1e6*column("guide.gap")) with lines ls 4 dt 2 title 'both (ggl-midpoint)'
set key at graph 0.02,0.98 left top
set ylabel 'y (micrometres)'
plot 'guide-index-1-4.csv' using "t":(1e6*column("guide.gap")) with lines ls 1 title 'index 1, Runge-Kutta of order 4', \
     'guide-index-1-5.csv' using "t":(1e8*column("guide.gap")) with lines ls 5 title 'index 1, order 5, times 100'
set ylabel 'y (1e-15 m)'
set xlabel 'time (s)' offset 0,0.6
plot 'guide-alpha-index3.csv' using "t":(1e15*column("guide.gap")) with points pt 7 ps 0.25 lc rgb '#009e73' title 'position level', \
     'guide-ggl-midpoint.csv' using "t":(1e15*column("guide.gap")) with points pt 7 ps 0.25 lc rgb '#cc79a7' title 'both (ggl-midpoint)'
unset multiplot
