# bouncing-mesh.gp: errors over the number of elements.  Wants style and picture; reads mesh.csv.
load style
set terminal pngcairo size 960,360 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 1,3 margins 0.08,0.985,0.13,0.93 spacing 0.105,0.02
set logscale xy
set xrange [40:2000]
set format y '%.0e'
set xlabel 'elements' offset 0,0.6
schemes = 'moreau-jean newmark hht generalized-alpha ggl-alpha moreau-dissipative'
line(i) = word('1 3 5 4 2 6', i) + 0
unset key
set ylabel 'duration of the contact, error (s)' offset 0.5,0
plot for [i=1:6] 'mesh.csv' using (strcol(1) eq word(schemes, i) ? $2 : NaN):(abs($3)) with linespoints ls line(i) notitle, 1/x with lines ls 9 notitle
set ylabel 'impulse, error (N s)' offset 0.5,0
set key left bottom
plot for [i=1:6] 'mesh.csv' using (strcol(1) eq word(schemes, i) ? $2 : NaN):(abs($4)) with linespoints ls line(i) title word(schemes, i), 100/x with lines ls 9 title 'order 1'
unset key
set ylabel 'gap, largest error (m)' offset 0.5,0
plot for [i=1:6] 'mesh.csv' using (strcol(1) eq word(schemes, i) ? $2 : NaN):6 with linespoints ls line(i) notitle, 8/x with lines ls 9 notitle
unset multiplot
