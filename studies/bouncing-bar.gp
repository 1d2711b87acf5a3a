# bouncing-bar.gp: gap, velocity at the wall, force and energy of four schemes.  Wants style and picture; reads ggl.csv, moreau.csv, index3.csv, newmark.csv.
load style
set terminal pngcairo size 900,900 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 4,2 margins 0.08,0.985,0.055,0.965 spacing 0.085,0.075
files = 'index3 moreau newmark ggl'
names = '"alpha-index3" "moreau-jean" "newmark" "ggl-alpha"'
line(i) = word('4 1 3 2', i) + 0
# Schemes that know impulses only record that of a lasting contact as force, too (docs/results.md): it counts once, as in bounce.awk.
force(impulse, f) = impulse > 0 && abs(2e-3*f/impulse - 1) < 1e-6 ? f : f + impulse/2e-3
set samples 2000
set key center top
set ylabel 'gap (m)'
set xrange [0.4:1.5]
end = 0.5005 + 2.0/3
exact(x) = x < 0.5005 ? 5.005 - 10*x : x < end ? 0 : 10*(x - end)
plot for [i=1:4] word(files, i).'.csv' using "t":"wall.gap" with lines ls line(i) lw 1.2 title word(names, i), exact(x) with lines ls 9 title 'exact'
unset key
set xrange [0.495:0.53]
set yrange [-0.02:0.08]
set ylabel 'gap at the impact (m)'
plot for [i=1:4] word(files, i).'.csv' using "t":"wall.gap" with linespoints ls line(i) lw 1 ps 0.4 notitle, exact(x) with lines ls 9 notitle
set autoscale y
set xrange [0.4:1.5]
set yrange [-15:25]
set ylabel 'velocity at the wall (m/s)'
plot for [i=1:4] word(files, i).'.csv' using "t":"wall.gap'" with lines ls line(i) lw 1 notitle
set xrange [1.14:1.22]
set yrange [-0.05:0.6]
set ylabel 'gap at the end (m)'
plot for [i=1:4] word(files, i).'.csv' using "t":"wall.gap" with linespoints ls line(i) lw 1 ps 0.4 notitle, exact(x) with lines ls 9 notitle
set xrange [0.4:1.3]
set yrange [-50:700]
set ylabel 'force (N)'
plot for [i=1:4] word(files, i).'.csv' using "t":(force(column("wall.impulse"), column("wall.force"))) with lines ls line(i) lw 1 notitle, \
     x < 0.5005 || x > end ? 0 : 300 with lines ls 9 notitle
set xrange [0.49:0.65]
set yrange [200:400]
set ylabel 'the same, enlarged'
plot for [i=1:4] word(files, i).'.csv' using "t":(force(column("wall.impulse"), column("wall.force"))) with lines ls line(i) lw 1 notitle, 300 with lines ls 9 notitle
set xrange [0.4:1.5]
set yrange [470:505]
set ylabel 'energy (J)'
set xlabel 'time (s)' offset 0,0.6
plot for [i=1:4] word(files, i).'.csv' using "t":"energy" with lines ls line(i) lw 1.2 notitle, 500 with lines ls 9 notitle
set yrange [496:501]
set ylabel 'the same, enlarged'
plot for [i=1:4] word(files, i).'.csv' using "t":"energy" with lines ls line(i) lw 1.2 notitle, 500 with lines ls 9 notitle
unset multiplot
