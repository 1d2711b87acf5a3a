# drift-box.gp: gaps, gap velocities at rest enlarged, energy.  Wants style and picture; reads box-*.csv.
load style
set terminal pngcairo size 820,860 font 'sans,10' noenhanced background '#ffffff'
set output picture
acceleration = 'box-half-explicit-acceleration.csv'
velocity = 'box-half-explicit.csv'
set multiplot layout 4,1 margins 0.1,0.97,0.06,0.965 spacing 0.02,0.07
set xrange [0:3]
set key at graph 0.98,0.96 right top vertical
set ylabel 'gap (m)'
plot acceleration using "t":"left.gap" with lines ls 1 dt 2 title 'left, acceleration', \
     velocity using "t":"left.gap" with lines ls 2 title 'left, velocity', \
     acceleration using "t":"ground.gap" with lines ls 5 dt 2 title 'ground, acceleration', \
     velocity using "t":"ground.gap" with lines ls 3 title 'ground, velocity'
set yrange [-0.022:0.012]
set ytics 0.01
set ylabel 'the same, enlarged'
plot acceleration using "t":"left.gap" with lines ls 1 dt 2 notitle, velocity using "t":"left.gap" with lines ls 2 notitle, \
     acceleration using "t":"ground.gap" with lines ls 5 dt 2 notitle, velocity using "t":"ground.gap" with lines ls 3 notitle, \
     0 with lines lc rgb '#999999' lw 0.7 notitle
set yrange [-0.02:0.02]
set ylabel 'gap velocity (m/s), enlarged'
plot acceleration using "t":"left.gap'" with lines ls 1 dt 2 notitle, velocity using "t":"left.gap'" with lines ls 2 notitle, \
     acceleration using "t":"ground.gap'" with lines ls 5 dt 2 notitle, velocity using "t":"ground.gap'" with lines ls 3 notitle
set yrange [12:28]
set ytics autofreq
set ylabel 'energy (J)'
set key at graph 1,1.02 right bottom horizontal maxrows 1 width -2
set xlabel 'time (s)' offset 0,0.6
plot acceleration using "t":"energy" with lines ls 1 dt 2 title 'acceleration level', \
     velocity using "t":"energy" with lines ls 2 title 'velocity level', \
     13.4007092111253 with lines ls 9 title 'at rest: 13.4007 J'
unset multiplot
