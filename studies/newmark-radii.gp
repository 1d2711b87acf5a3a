# newmark-radii.gp: spectral radii over h omega.  Wants style, picture; reads radii-newmark.csv, radii-alpha.csv.
load style
set terminal pngcairo size 1000,380 font 'sans,10' noenhanced background '#ffffff'
set output picture
set logscale x
set format x '%.0e'
set xlabel 'h omega'
set xrange [0.1:1000]
set yrange [0:1.05]
set key left bottom
betas = '0.45 0.49 0.6 0.8 1'
names = "'trapezoidal rule' 'Newmark gamma = 0.6' 'HHT alpha = 0.05' 'HHT alpha = 0.1' 'HHT alpha = 0.3' 'generalized-alpha rho = 0.8'"
set multiplot layout 1,2 margins 0.06,0.97,0.13,0.9 spacing 0.07,0.02
set label 1 'Newmark, gamma = 0.9: spectral radius' at graph 0.02,1.06
plot for [i = 1:5] 'radii-newmark.csv' using (strcol(1) eq 'beta = '.word(betas, i) ? $2 : NaN):3 with lines ls i title 'beta = '.word(betas, i)
set label 1 'HHT and others: spectral radius' at graph 0.02,1.06
plot for [i = 1:6] 'radii-alpha.csv' using (strcol(1) eq word(names, i) ? $2 : NaN):3 with lines ls (i == 1 ? 6 : i - 1) title word(names, i)
unset multiplot
