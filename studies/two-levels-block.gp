# two-levels-block.gp: gaps, gap velocities, impulses and energy of the rocking block.  Wants style and picture.
load style
set terminal pngcairo size 900,700 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 3,2 margins 0.08,0.985,0.07,0.96 spacing 0.09,0.08
moreau = 'block-moreau-1e-2.csv'
ggl = 'block-ggl-1e-2.csv'
fine = 'block-ggl-2e-4.csv'
set xrange [0:1]
set key right top
do for [c in 'left right'] {
    set ylabel 'gap, '.c.' (m)'
    plot moreau using "t":c.'.gap' with linespoints ls 1 lw 1 ps 0.3 title 'moreau-jean', ggl using "t":c.'.gap' with linespoints ls 2 lw 1 ps 0.3 title 'ggl-alpha', \
         fine using "t":c.'.gap' with lines ls 9 title 'ggl-alpha, 2e-4'
    unset key
}
set yrange [-0.02:0.03]
set ylabel 'gap, right, enlarged (m)'
plot moreau using "t":"right.gap" with linespoints ls 1 lw 1 ps 0.3 notitle, ggl using "t":"right.gap" with linespoints ls 2 lw 1 ps 0.3 notitle, fine using "t":"right.gap" with lines ls 9 notitle
set autoscale y
set ylabel 'gap velocity, right (m/s)'
plot moreau using "t":"right.gap'" with linespoints ls 1 lw 1 ps 0.3 notitle, ggl using "t":"right.gap'" with linespoints ls 2 lw 1 ps 0.3 notitle, fine using "t":"right.gap'" with lines ls 9 notitle
set xlabel 'time (s)' offset 0,0.6
set ylabel 'impulse, right, of a step (N s)'
plot moreau using "t":"right.impulse" with linespoints ls 1 lw 1 ps 0.3 notitle, ggl using "t":"right.impulse" with linespoints ls 2 lw 1 ps 0.3 notitle
set ylabel 'energy (J)'
plot moreau using "t":"energy" with lines ls 1 notitle, ggl using "t":"energy" with lines ls 2 notitle, fine using "t":"energy" with lines ls 9 notitle
unset multiplot
