# valve-train.gp: lift of cam and valve, as given and tuned; the float of both; the search.  Wants style, output; reads given.csv, tuned.csv, history.txt.
load style
set terminal pngcairo size 1000,360 font 'sans,10' noenhanced background '#ffffff'
set output output
set datafile columnheaders
set multiplot layout 1,3 margins 0.06,0.985,0.14,0.92 spacing 0.07,0.02
set xlabel 'time (ms)'
set ylabel 'lift (mm)'
set key right top
set xrange [0:10]
plot 'given.csv' using (1e3*column('t')):(1e3*column('profile')) with lines ls 9 title 'cam', '' using (1e3*column('t')):(1e3*column('x')) with lines ls 1 title 'valve, given', 'tuned.csv' using (1e3*column('t')):(1e3*column('x')) with lines ls 2 title 'tuned'
set ylabel 'float (mm)'
plot 'given.csv' using (1e3*column('t')):(1e3*column('float')) with lines ls 1 title 'given', 'tuned.csv' using (1e3*column('t')):(1e3*column('float')) with lines ls 2 title 'tuned'
set xlabel 'run'
set ylabel 'rms float (mm)'
set xrange [*:*]
set yrange [0:2]
plot 'history.txt' using 1:7 with points ls 6 ps 0.3 title 'all runs'
