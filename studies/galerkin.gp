# galerkin.gp: L1 errors of q, v and i over the step for four schemes.  Wants style, picture, problem; reads PROBLEM-{q,v,i}.csv.
load style
set terminal pngcairo size 1000,340 font 'sans,10' noenhanced background '#ffffff'
set output picture
schemes = 'moreau-jean:theta=1 dg-minus:order=1 dg-plus:order=1 dg-minus:order=2' # the last without interaction
set logscale xy
set format '%.0e'
set xlabel 'step (s)'
set xtics 10
set datafile missing NaN
if (problem eq 'combined') {
    set xrange [4e-4:0.2]
    set yrange [1e-4:2]
} else {
    set xrange [7e-4:0.15]
    set yrange [1e-17:10] # what is exact lies at the lower edge
    set ytics 100
}
set multiplot layout 1,3 margins 0.07,0.79,0.15,0.95 spacing 0.065,0.02
do for [k = 1:3] {
    what = word('q v i', k)
    set label 1 word('position velocity interaction', k) at graph 0.04,0.94
    if (k == 1) { set key at screen 0.8,0.9 left top vertical } else { unset key }
    plot for [i = 1:(k == 3 ? 3 : 4)] problem.'-'.what.'.csv' using (strcol(1) eq word(schemes, i) ? $2 : NaN):($3 > 3e-17 ? $3 : 3e-17) \
         with linespoints ls i title word(schemes, i), \
         x with lines lc rgb '#666666' dt 3 lw 1.3 title 'order 1', x**2 with lines lc rgb '#666666' dt 2 title 'order 2'
}
unset multiplot
