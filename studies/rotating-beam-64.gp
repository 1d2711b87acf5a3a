# rotating-beam-64.gp: 4 and 64 elements by ggl-alpha.  Wants style and picture; reads ggl-4.csv and ggl-64.csv.
load style
set terminal pngcairo size 900,480 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 2,2 margins 0.08,0.98,0.09,0.96 spacing 0.095,0.1
set xrange [0:1.5]
set key right top
set yrange [0.65:1.3]
set ylabel 'x of the tip (m)'
plot 'ggl-4.csv' using "t":"beam.end.x" with lines ls 1 lw 1.1 title '4 elements', 'ggl-64.csv' using "t":"beam.end.x" with lines ls 2 lw 1.1 title '64 elements', \
     sqrt(0.5) with lines ls 9 notitle
unset key
set autoscale y
set ylabel 'impulse of a step (N s)'
plot 'ggl-4.csv' using "t":(column("obstacle.impulse") > 0 ? column("obstacle.impulse") : NaN) with impulses ls 1 notitle, \
     'ggl-64.csv' using "t":(column("obstacle.impulse") > 0 ? column("obstacle.impulse") : NaN) with impulses ls 2 notitle
set ylabel 'energy (J)'
set xlabel 'time (s)' offset 0,0.6
plot 'ggl-4.csv' using "t":"energy" with lines ls 1 lw 1.1 notitle, 'ggl-64.csv' using "t":"energy" with lines ls 2 lw 1.1 notitle
set ylabel 'angle at the pin (rad)'
plot 'ggl-4.csv' using "t":"beam.start.angle" with lines ls 1 lw 1.1 notitle, 'ggl-64.csv' using "t":"beam.start.angle" with lines ls 2 lw 1.1 notitle
unset multiplot
