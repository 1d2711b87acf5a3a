# all-schemes.gp: error over CPU time on the papers' examples, a curve per scheme.  Wants style, picture; reads MODEL.csv.
load style
set terminal pngcairo size 1100,680 font 'sans,8' noenhanced background '#ffffff'
set output picture
set logscale xy
set format '%.0e'
set xtics 10
set ytics 100
set datafile missing NaN
rows(file, scheme) = sprintf("< awk -F, '$1 == \"%s\" && $3 > 0' %s.csv", scheme, file)
files = 'crank bowl pendulum block oscillator ball bar'
array title[7] = ['slider-crank, impacts and friction', 'bowl: lasting contact with friction', 'pendulum with joints against a wall', 'rocking block', 'impacting oscillator', 'bouncing ball', 'elastic bar, 50 elements']
schemes = 'half-explicit half-explicit-rk half-explicit-acceleration moreau-jean moreau-explicit moreau-midpoint moreau-dissipative schatzman-paoli newmark hht generalized-alpha ggl-projection ggl-midpoint ggl-alpha alpha-forces alpha-forces:locate=yes dg-plus dg-minus mixed splitting splitting:adaptive=on auto event-driven'
array colour[23] = ['#0072b2', '#0072b2', '#0072b2', '#999999', '#999999', '#999999', '#999999', '#999999', '#e69f00', '#e69f00', '#e69f00', '#009e73', '#009e73', '#009e73', '#d55e00', '#d55e00', '#cc79a7', '#cc79a7', '#000000', '#56b4e9', '#56b4e9', '#000000', '#000000']
array point[23] = [7, 5, 9, 1, 2, 3, 4, 6, 7, 5, 9, 7, 5, 9, 7, 5, 7, 5, 7, 7, 5, 5, 9]
set multiplot layout 2,4 margins 0.045,0.98,0.06,0.95 spacing 0.045,0.1
do for [k = 1:7] {
    set label 1 title[k] at graph 0.02,1.04
    set xlabel 'CPU time (s)' offset 0,0.4
    unset key
    if (k == 7) { set yrange [1e-2:10]; set ytics 10 }
    there = system("awk -F, 'NR > 1 && $3 > 0 { print $1 }' ".word(files, k).".csv | sort -u | tr '\\n' ' '")
    has(i) = strstrt(' '.there, ' '.word(schemes, i).' ') > 0
    plot for [i = 1:23] (has(i) ? rows(word(files, k), word(schemes, i)) : '/dev/null') using 6:3 with linespoints lc rgb colour[i] pt point[i] ps 0.4 lw (i == 15 || i == 16 ? 2 : 0.7) title word(schemes, i)
}
unset label 1
unset border
unset tics
unset xlabel
unset grid
set key at graph 0.05,1 left top Left reverse samplen 2 spacing 0.9 vertical maxrows 24 maxcols 1
set xrange [1:2]
set yrange [1:2]
plot for [i = 1:23] NaN with linespoints lc rgb colour[i] pt point[i] ps 0.8 lw (i == 15 || i == 16 ? 2 : 0.7) title word(schemes, i)
unset multiplot
