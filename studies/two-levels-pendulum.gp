# two-levels-pendulum.gp: gap, drift, reactions and energy of the pendulum; ringing of the pin's force.  Wants style and picture.
load style
set terminal pngcairo size 900,900 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 4,2 margins 0.09,0.975,0.055,0.965 spacing 0.1,0.07
moreau = 'pendulum-moreau-1e-3.csv'
ggl = 'pendulum-ggl-1e-3.csv'
fine = 'pendulum-ggl-1e-4.csv'
set xrange [0:6]
set key right top
set ylabel 'gap at the wall (m)'
plot moreau using "t":"wall.gap" with lines ls 1 title 'moreau-jean', ggl using "t":"wall.gap" with lines ls 2 title 'ggl-alpha', fine using "t":"wall.gap" with lines ls 9 title 'ggl-alpha, 1e-4'
unset key
set yrange [-2:10]
set xrange [4.7:5.2]
set ylabel 'the same, enlarged (mm)'
plot moreau using "t":(1e3*column("wall.gap")) with lines ls 1 notitle, ggl using "t":(1e3*column("wall.gap")) with lines ls 2 notitle, fine using "t":(1e3*column("wall.gap")) with lines ls 9 notitle
set xrange [0:6]
set autoscale y
set ylabel 'pin, x (micrometres)'
plot moreau using "t":(1e6*column("pin_x.gap")) with lines ls 1 notitle, ggl using "t":(1e6*column("pin_x.gap")) with lines ls 2 notitle
set logscale y
set yrange [5e-4:30]
set format y '%.0e'
set ylabel 'wall: impulse of a step (N s)'
plot moreau using "t":(column("wall.impulse") > 0 ? column("wall.impulse") : NaN) with points pt 7 ps 0.25 lc rgb '#d55e00' notitle, \
     ggl using "t":(column("wall.impulse") > 0 ? column("wall.impulse") : NaN) with points pt 7 ps 0.25 lc rgb '#0072b2' notitle, \
     fine using "t":(column("wall.impulse") > 0 ? column("wall.impulse") : NaN) with points pt 7 ps 0.15 lc rgb '#000000' notitle
unset logscale y
set format y '%g'
set autoscale y
set yrange [-40:30]
set ylabel 'pin, x: force + impulse/h (N)'
plot moreau using "t":(column("pin_x.impulse")/1e-3) with lines ls 1 lw 0.9 notitle, ggl using "t":(column("pin_x.force") + column("pin_x.impulse")/1e-3) with lines ls 2 lw 0.9 notitle
set autoscale y
set ylabel 'pin, x: impulse of a step (N s)'
plot moreau using "t":"pin_x.impulse" with lines ls 1 lw 0.9 notitle, ggl using "t":"pin_x.impulse" with lines ls 2 lw 0.9 notitle
set ylabel 'energy (J)'
set xlabel 'time (s)' offset 0,0.6
plot moreau using "t":"energy" with lines ls 1 notitle, ggl using "t":"energy" with lines ls 2 notitle, fine using "t":"energy" with lines ls 9 notitle
set xrange [0.47:0.54]
set yrange [-40:30]
set key right top
set ylabel 'pin, x: force, by rho (N)'
plot for [i=1:4] 'ringing-'.word('0.9 0.8 0.5 0', i).'.csv' using "t":"pin_x.force" with lines ls i lw 1.1 title 'rho '.word('0.9 0.8 0.5 0', i)
unset multiplot
