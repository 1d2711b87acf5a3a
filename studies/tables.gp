# tables.gp: error over step of curve.csv, one curve per scheme, and the paper's entries as rings.  Wants style, table, picture, schemes, paper.
load style
set terminal pngcairo size 760,460 font 'sans,10' noenhanced background '#ffffff'
set output picture
set logscale xy
set format '%g'
set format y '%.0e'
set xrange [7e-6:1.5e-3]
set xlabel 'step (s)'
set ylabel '2-norm of the matrix of differences'
set key outside right top Left
set datafile missing NaN
first = table == 2 ? 0.25 : 0.2
plot for [i = 1:words(schemes)] 'curve.csv' skip 1 using (strcol(1) eq word(schemes, i) ? $2 : NaN):3 with linespoints ls i title word(schemes, i), \
     paper skip 1 using ($1 == table && strcol(2) eq 'moreau-explicit' ? $3 : NaN):4 with points pt 6 ps 2 lw 2 lc rgb '#d55e00' title 'paper, Moreau', \
     paper skip 1 using ($1 == table && strcol(2) eq 'half-explicit' ? $3 : NaN):4 with points pt 6 ps 2 lw 2 lc rgb '#0072b2' title 'paper, half-explicit', \
     first*(x/1e-4)**0.5 with lines lc rgb '#666666' lw 1.2 dt 3 title 'order 1 (slope 1/2)', \
     0.012*(x/1e-4)**1.5 with lines lc rgb '#666666' lw 1.2 dt 2 title 'order 2 (slope 3/2)'
