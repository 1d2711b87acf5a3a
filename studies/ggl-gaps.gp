# ggl-gaps.gp: height of the slider in its guide by Moreau's midpoint rule and by the unified scheme.  Wants style and picture; reads steps-*.csv.
load style
set terminal pngcairo size 820,700 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 3,1 margins 0.1,0.97,0.07,0.965 spacing 0.02,0.085
set xrange [0:150]
set key at graph 1,1.02 right bottom horizontal maxrows 1 width -2
set ylabel 'y of the slider (mm)'
plot 'steps-moreau.csv' using (1e3*column("t")):(1e3*column("slider.y")) with lines ls 1 title 'moreau-midpoint', \
     'steps-unified.csv' using (1e3*column("t")):(1e3*column("slider.y")) with lines ls 3 title 'ggl-midpoint', \
     1 with lines lc rgb '#999999' lw 0.7 notitle, -1 with lines lc rgb '#999999' lw 0.7 notitle
set yrange [-100:30]
set ylabel 'gap 1, enlarged (micrometres)'
plot 'steps-moreau.csv' using (1e3*column("t")):(1e6*column("corner1.gap")) with lines ls 1 notitle, \
     'steps-unified.csv' using (1e3*column("t")):(1e6*column("corner1.gap")) with lines ls 3 notitle, 0 with lines lc rgb '#999999' lw 0.7 notitle
set yrange [-0.15:0.15]
set ylabel 'gap velocity 1, enlarged (m/s)'
set xlabel 'time (ms)' offset 0,0.6
plot 'steps-moreau.csv' using (1e3*column("t")):"corner1.gap'" with lines ls 1 lw 0.8 notitle, \
     'steps-unified.csv' using (1e3*column("t")):"corner1.gap'" with lines ls 3 lw 0.8 notitle
unset multiplot
