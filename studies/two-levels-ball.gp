# two-levels-ball.gp: gap, velocity, impulse and energy of the bouncing ball (figures 2 to 6 of the paper).  Wants style and picture; reads ball-*.csv.
load style
set terminal pngcairo size 900,940 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 4,2 margins 0.09,0.98,0.05,0.97 spacing 0.1,0.065
ggl = 'ball-ggl.csv'
moreau = 'ball-moreau.csv'
modified = 'ball-modified.csv'
index3 = 'ball-index3.csv'
# The exact motion, by the geometric series of its flights.
e = 0.8; t1 = sqrt(2*0.801/10); rest = t1*(1 + e)/(1 - e); c = 2*t1/(1 - e)
flight(t) = floor(log((rest - t)/c)/log(e))
height(t) = t < rest ? 5*(c*e**flight(t) - (rest - t))*((rest - t) - c*e**(flight(t) + 1)) : 0
speed(t) = t < rest ? 5*(c*e**flight(t)*(1 + e) - 2*(rest - t))*(-1) : 0
set samples 4000
set xrange [0:5]
set key left top
set yrange [-0.1:4]
set ylabel 'gap (m), figure 2'
plot index3 using "t":"ground.gap" with lines ls 1 lw 0.9 title 'index 3', modified using "t":"ground.gap" with lines ls 5 title 'modified', ggl using "t":"ground.gap" with lines ls 2 title 'ggl-alpha', height(x) with lines ls 9 title 'exact'
set xrange [3.4:4.6]
set yrange [-0.1:1.5]
set ylabel 'the same, enlarged (mm)'
unset key
plot modified using "t":(1e3*column("ground.gap")) with lines ls 5 lw 0.9 notitle, ggl using "t":(1e3*column("ground.gap")) with lines ls 2 notitle, 1e3*height(x) with lines ls 9 notitle
set xrange [0:5]
set yrange [-6:6]
set ylabel 'velocity (m/s), figure 3'
plot index3 using "t":"ground.gap'" with lines ls 1 lw 0.6 notitle, modified using "t":"ground.gap'" with lines ls 5 notitle, ggl using "t":"ground.gap'" with lines ls 2 lw 1 notitle
set xrange [3.4:4.6]
set yrange [-0.2:0.2]
set ylabel 'the same, enlarged'
plot modified using "t":"ground.gap'" with lines ls 5 lw 0.9 notitle, ggl using "t":"ground.gap'" with lines ls 2 notitle
set xrange [3.3:3.8]
set yrange [-3:8]
set key right top
set ylabel 'gap (mm), figure 4'
plot moreau using "t":(1e3*column("ground.gap")) with lines ls 1 title 'moreau-jean', ggl using "t":(1e3*column("ground.gap")) with lines ls 2 title 'ggl-alpha', 1e3*height(x) with lines ls 9 title 'exact'
unset key
set xrange [0:5]
set yrange [0:11]
set ylabel 'energy (J), figure 5'
plot moreau using "t":"energy" with lines ls 1 notitle, ggl using "t":"energy" with lines ls 2 notitle
set logscale y
set format y '%.0e'
set yrange [1e-2:20]
set xlabel 'time (s)' offset 0,0.6
set ylabel 'impulse of a step (N s), figure 6'
plot moreau using "t":(column("ground.impulse") > 0 ? column("ground.impulse") : NaN) with points pt 7 ps 0.35 lc rgb '#d55e00' notitle, \
     ggl using "t":(column("ground.impulse") > 0 ? column("ground.impulse") : NaN) with points pt 7 ps 0.25 lc rgb '#0072b2' notitle
unset logscale y
set format y '%g'
set yrange [0:140]
set ylabel 'energy of index 3 (J)'
plot index3 using "t":"energy" with lines ls 1 lw 0.9 notitle
unset multiplot
