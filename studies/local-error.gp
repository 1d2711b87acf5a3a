# local-error.gp: error of one step over its size.  Wants style, picture; reads local.csv.
load style
set terminal pngcairo size 1000,360 font 'sans,10' noenhanced background '#ffffff'
set output picture
set datafile missing NaN
set datafile columnheaders
set logscale xy
set format '%.0e'
set xlabel 'step h (s)'
set xtics 10
set ytics 10
set xrange [7e-5:0.15]
set yrange [1e-5:10]
gammas = '0.5 0.5 1 1'
sigmas = '0.25 0.75 0.25 0.75'
set multiplot layout 1,2 margins 0.07,0.78,0.16,0.92 spacing 0.07,0.02
do for [k = 1:2] {
    set label 1 (k == 1 ? 'velocity: |e_v| (m/s)' : 'position: |e_q| (m)') at graph 0.02,1.05
    if (k == 1) { set key at screen 0.785,0.9 left top vertical } else { unset key }
    plot for [i = 1:4] 'local.csv' using ($3 == word(gammas, i) && $2 == word(sigmas, i) && $4 == 0.5 ? $1 : NaN):(abs(column(5 + k))) with linespoints ls i \
         title 'gamma '.word(gammas, i).', sigma '.word(sigmas, i), x with lines lc rgb '#666666' dt 3 lw 1.3 title 'order 1'
}
unset multiplot
