# rotating-beam.gp: tip, impulses and energy of 4 elements: all curves of Chen's figures 10 and 11, and ggl-alpha.  Wants style and picture; reads
# moreau-4.csv, alpha-4.csv, ggl-4.csv, newmark-4.csv, moreau-4-small.csv, fine.csv.
load style
set terminal pngcairo size 900,900 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 4,2 margins 0.08,0.98,0.055,0.965 spacing 0.095,0.07
files = 'moreau-4 alpha-4 ggl-4 newmark-4 moreau-4-small'
names = '"moreau-jean, theta 1" "generalized-alpha" "ggl-alpha" "newmark, gamma 1" "moreau-jean, 2e-5"'
line(i) = word('1 4 2 3 6', i) + 0
set xrange [0:1.5]
set xtics autofreq
set key right top
set yrange [0.65:1.3]
set ylabel 'x of the tip (m)'
plot for [i=1:5] word(files, i).'.csv' using "t":"beam.end.x" with lines ls line(i) lw 1.1 title word(names, i), sqrt(0.5) with lines ls 9 notitle
unset key
set xrange [0.326:0.346]
set xtics 0.005
set yrange [-2:8]
set ylabel 'gap, first impacts (mm)'
plot for [i=1:5] word(files, i).'.csv' using "t":(1e3*column("obstacle.gap")) with linespoints ls line(i) lw 1 ps 0.4 notitle, \
     'fine.csv' using "t":(1e3*column("obstacle.gap")) with lines ls 9 notitle, 0 with lines lc rgb '#999999' lw 0.7 notitle
set xrange [0:1.5]
set xtics autofreq
set autoscale y
set ylabel "velocity x' of the tip (m/s)"
plot for [i=1:5] word(files, i).'.csv' using "t":"beam.end.x'" with lines ls line(i) lw 0.8 notitle
set xrange [0.326:0.346]
set xtics 0.005
set yrange [-6:6]
set ylabel 'the same, first impacts'
plot for [i=1:5] word(files, i).'.csv' using "t":"beam.end.x'" with linespoints ls line(i) lw 1 ps 0.4 notitle, 'fine.csv' using "t":"beam.end.x'" with lines ls 9 notitle
set xrange [0:1.5]
set xtics autofreq
set autoscale y
set ylabel 'impulse of a step (N s)'
plot for [i=1:5] word(files, i).'.csv' using "t":(column("obstacle.impulse") > 0 ? column("obstacle.impulse") : NaN) with impulses ls line(i) lw 1 notitle
set ylabel 'y of the tip (m)'
plot for [i=1:5] word(files, i).'.csv' using "t":"beam.end.y" with lines ls line(i) lw 1.1 notitle
set ylabel 'energy (J)'
set xlabel 'time (s)' offset 0,0.6
plot for [i=1:5] word(files, i).'.csv' using "t":"energy" with lines ls line(i) lw 1.1 notitle
set xrange [0:0.33]
set xtics autofreq
set ylabel 'energy before the impact (mJ)'
plot for [i=1:5] word(files, i).'.csv' using "t":(1e3*column("energy")) with lines ls line(i) lw 1.1 notitle
unset multiplot
