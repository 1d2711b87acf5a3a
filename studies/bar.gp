# bar.gp: contact force, velocities, gap and energy of one mesh without and with damping.  Wants style, picture, name; reads NAME-*damped.csv.
load style
set terminal pngcairo size 900,900 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 5,2 columnsfirst margins 0.1,0.985,0.055,0.965 spacing 0.105,0.045
set key at graph 1,1.0 right bottom horizontal maxrows 1 samplen 1.5
set samples 4000
set xrange [0.4:1]
T = 2/sqrt(2.1e11/7800)*1e3 # contact time in ms; the impact is captured at 0.5001 ms
set arrow 1 from 0.50005,graph 0 to 0.50005,graph 1 nohead lc rgb '#999999' dt 3
set arrow 2 from 0.50005+T,graph 0 to 0.50005+T,graph 1 nohead lc rgb '#999999' dt 3
do for [d in 'undamped damped'] {
    file = name.'-'.d.'.csv'
    set label 1 (d eq 'damped' ? 'damping C = (1e3/E) K' : 'no damping') at graph 0,1.1 left font ',11'
    set format x ''
    unset xlabel
    set ylabel 'force (kN)'
    set yrange [-0.1:2.4]
    set ytics autofreq
    plot file using (1e3*column("t")):(1e-3*column("wall.force")) with lines ls 2 lw 1.2 title 'contact', \
         x > 0.50005 && x < 0.50005 + T ? 1.271472 : 0 with lines ls 1 lw 1.2 dt 2 title 'exact'
    unset label 1
    set yrange [-0.2:0.2]
    set ytics 0.1
    set ylabel 'velocity (m/s)'
    plot file using (1e3*column("t")):"bar.end.u'" with lines ls 1 lw 1.2 title 'tip', \
         file using (1e3*column("t")):"bar.middle.u'" with lines ls 3 lw 1.2 title 'middle', \
         file using (1e3*column("t")):"bar.start.u'" with lines ls 2 lw 1.2 title 'wall'
    set yrange [-12:12]
    set ytics autofreq
    set ylabel 'gap (nm)'
    plot file using (1e3*column("t")):(1e9*column("wall.gap")) with lines ls 2 notitle, 0 with lines lc rgb '#999999' lw 0.7 notitle
    set yrange [-1:14]
    set ylabel 'energy (mJ)'
    plot file using (1e3*column("t")):(1e3*column("energy")) with lines ls 6 title 'total', \
         file using (1e3*column("t")):(1e3*column("kinetic")) with lines ls 1 title 'kinetic', \
         file using (1e3*column("t")):(1e3*column("potential")) with lines ls 2 title 'potential'
    set yrange [12.1:12.28]
    set ytics 0.05
    set format x '%g'
    set xlabel 'time (ms)' offset 0,0.6
    set ylabel 'total, enlarged'
    plot file using (1e3*column("t")):(1e3*column("energy")) with lines ls 6 notitle
}
unset multiplot
