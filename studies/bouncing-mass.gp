# bouncing-mass.gp: force at the impact for three kinds of mass.  Wants style and picture; reads KIND-SCHEME.csv.
load style
set terminal pngcairo size 900,360 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 1,2 margins 0.07,0.97,0.13,0.93 spacing 0.08,0.02
set xrange [0.498:0.56]
set xlabel 'time (s)' offset 0,0.6
set yrange [0:450]
do for [scheme in 'moreau-dissipative ggl-midpoint'] {
    set ylabel 'force (N), '.scheme
    plot 'lumped-'.scheme.'.csv' using "t":(column("wall.impulse")/2e-3) with linespoints ls 1 lw 1 ps 0.4 title 'lumped', \
         'consistent-'.scheme.'.csv' using "t":(column("wall.impulse")/2e-3) with linespoints ls 2 lw 1 ps 0.4 title 'consistent', \
         'redistributed-'.scheme.'.csv' using "t":(column("wall.impulse")/2e-3) with linespoints ls 3 lw 1 ps 0.4 title 'massless node', \
         300 with lines ls 9 notitle
}
unset multiplot
