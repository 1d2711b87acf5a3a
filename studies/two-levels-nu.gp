# two-levels-nu.gp: multipliers on position level of ball and pendulum (figures 7, 11 and 16 of the paper).  Wants style and picture.
load style
set terminal pngcairo size 900,640 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 2,2 margins 0.1,0.985,0.08,0.965 spacing 0.11,0.1
coarse = 'pendulum-ggl-1e-3.csv'
fine = 'pendulum-ggl-1e-4.csv'
dot(name, unit) = column(name) != 0 ? unit*column(name) : NaN
set xrange [0:5]
set key right top
set ylabel 'ball, ground: nu (g m)'
plot 'ball-ggl.csv' using "t":(dot("ground.nu", 1e3)) with impulses lc rgb '#0072b2' title 'ggl-alpha, 2e-3'
set logscale y
set format y '%.0e'
set yrange [1e-8:1e-1]
set ylabel 'the same, logarithmic (kg m)'
plot 'ball-ggl.csv' using "t":(dot("ground.nu", 1)) with points pt 7 ps 0.3 lc rgb '#0072b2' notitle
set xlabel 'time (s)' offset 0,0.6
set xrange [0:6]
set yrange [1e-9:1e-1]
set ylabel 'pendulum, wall: nu (kg m)'
plot coarse using "t":(dot("wall.nu", 1)) with points pt 7 ps 0.3 lc rgb '#0072b2' title '1e-3', \
     fine using "t":(dot("wall.nu", 1)) with points pt 7 ps 0.2 lc rgb '#000000' title '1e-4'
unset logscale y
set format y '%g'
set autoscale y
set key right bottom
set ylabel 'pendulum, pin in x: nu (g m)'
plot coarse using "t":(1e3*column("pin_x.nu")) with lines ls 2 lw 0.9 title '1e-3', fine using "t":(1e3*column("pin_x.nu")) with lines lc rgb '#000000' lw 0.9 title '1e-4'
unset multiplot
