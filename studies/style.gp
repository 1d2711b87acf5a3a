# style.gp: how the pictures of all studies look.
set datafile separator ','
set style line 100 lc rgb '#dddddd' lw 0.5
set grid ls 100
set border 3 lc rgb '#444444'
set tics nomirror out scale 0.5
set key left Left reverse samplen 1.5 spacing 1.1
set style line 1 lc rgb '#d55e00' lw 1.6 pt 7 ps 0.7
set style line 2 lc rgb '#0072b2' lw 1.6 pt 5 ps 0.7
set style line 3 lc rgb '#009e73' lw 1.6 pt 9 ps 0.8
set style line 4 lc rgb '#cc79a7' lw 1.6 pt 13 ps 0.8
set style line 5 lc rgb '#e69f00' lw 1.6 pt 11 ps 0.8
set style line 6 lc rgb '#555555' lw 1.6 pt 4 ps 0.8
set style line 9 lc rgb '#000000' lw 1.0 dt 2
