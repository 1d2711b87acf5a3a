# ggl-restitution.gp: height of the slider in its guide for four restitutions, by Moreau's midpoint rule (left) and by the unified scheme (right).
# Wants style and picture; reads gap-moreau-E.csv and gap-unified-E.csv.
load style
set terminal pngcairo size 900,900 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 4,2 margins 0.08,0.98,0.055,0.955 spacing 0.06,0.05
set xrange [0:150]
set yrange [-1.2:1.2]
set ytics 1
do for [e in "0.1 0.4 0.7 0.9"] {
    do for [s in "moreau unified"] {
        unset title
        unset ylabel
        unset xlabel
        if (e eq "0.1") { set title (s eq "moreau" ? "moreau-midpoint (figure 3)" : "ggl-midpoint (figure 8)") offset 0,-0.6 }
        if (s eq "moreau") { set ylabel "y (mm), e = ".e offset 1,0 }
        if (e eq "0.9") { set xlabel "time (ms)" offset 0,0.6 }
        plot sprintf("gap-%s-%s.csv", s, e) using (1e3*column("t")):(1e3*column("slider.y")) with lines ls (s eq "moreau" ? 1 : 3) lw 1.2 notitle, \
             1 with lines lc rgb '#999999' lw 0.7 notitle, -1 with lines lc rgb '#999999' lw 0.7 notitle
    }
}
unset multiplot
