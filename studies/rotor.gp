# rotor.gp: the journal's orbit, and errors over computing time.  Wants style and picture; reads half-explicit.csv, moreau-5e-6.csv, work.csv.
load style
set terminal pngcairo size 1000,460 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 1,2 margins 0.07,0.98,0.12,0.95 spacing 0.1,0.1
set size ratio -1
set parametric
set trange [0:2*pi]
set xrange [-115:115]
set yrange [-115:115]
set xlabel 'y (micrometres)' offset 0,0.4
set ylabel 'z (micrometres)'
set key at 0,62 center
plot 100*cos(t),100*sin(t) with lines lc rgb '#888888' lw 1.2 title 'clearance', \
     'half-explicit.csv' using (1e6*column('journal.y')):(1e6*column('journal.z')) with lines ls 2 title 'half-explicit', \
     'moreau-5e-6.csv' using (1e6*column('journal.y')):(1e6*column('journal.z')) with lines lc rgb '#d55e00' lw 1.2 dt 2 title 'moreau-explicit'
unset parametric
set size noratio
set logscale xy
set xrange [0.09:1.1]
set yrange [2e-8:3e-7]
set format y '%.0e'
set xtics (0.1, 0.2, 0.5, 1)
set ytics (2e-8, 5e-8, 1e-7, 2e-7)
set xlabel 'CPU time (s)'
set ylabel 'mean error of the journal (m)'
set key default
set key top right Left reverse samplen 1.5
rows(scheme) = sprintf("< grep '^%s' work.csv", scheme)
plot rows('half-explicit') using 4:3 with linespoints ls 2 title 'half-explicit, impulsive steps h/10', \
     rows('moreau-explicit') using 4:3 with linespoints ls 1 title 'moreau-explicit, forces=end'
unset multiplot
