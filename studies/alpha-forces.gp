# alpha-forces.gp: errors of position and contact force over the step in the bowl, a curve per scheme.  Wants style, picture; reads bowl-errors.csv.
load style
set terminal pngcairo size 1000,380 font 'sans,10' noenhanced background '#ffffff'
set output picture
set logscale xy
set format '%.0e'
set xlabel 'step (s)'
set xtics 10
set ytics 10
set xrange [6e-4:2e-2]
schemes = "'moreau-jean' 'moreau-jean theta=1' 'ggl-alpha' 'half-explicit' 'alpha-forces'"
set multiplot layout 1,2 margins 0.07,0.82,0.13,0.92 spacing 0.07,0.02
do for [k = 1:2] {
    set label 1 (k == 1 ? 'largest error of the position (m)' : 'largest error of the normal force (N)') at graph 0.02,1.05
    if (k == 1) { set key at screen 0.83,0.9 left top vertical } else { unset key }
    plot for [i = 1:5] 'bowl-errors.csv' using (strcol(1) eq word(schemes, i) ? $2 : NaN):(column(2 + k)) with linespoints ls i title word(schemes, i), \
         (k == 1 ? 1.5 : 60)*x with lines lc rgb '#666666' dt 3 lw 1.3 title 'order 1', (k == 1 ? 5 : 30)*x**2 with lines lc rgb '#666666' dt 2 title 'order 2'
}
unset multiplot
