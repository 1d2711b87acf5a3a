# sweeps.gp: bifurcation diagrams, maps and a histogram of the study of sweeps.
load style
set terminal pngcairo size 900,560 font ',11'
unset key
join(file) = "< awk -F, 'FNR == NR { if (FNR > 1) x[$1] = $2; next } FNR > 1 { print x[$1] \",\" $3 }' ".file." ".file.".section.csv"

set output 'sweep-table.png'
critical = sqrt((pi/3)**2 + (2*1.25/2.25)**2)
set xlabel 'Gamma'
set ylabel "velocity after impacts"
set arrow 1 from critical, graph 0 to critical, graph 1 nohead ls 9
set label 1 'period doubling by theory' at critical, graph 0.06 offset 0.8, 0
set arrow 2 from graph 0, first pi to first critical, first pi nohead ls 9
set label 2 'pi' at graph 0.02, first pi offset 0, 0.8
plot [1.2:2] join('table.csv') with points pt 7 ps 0.15 lc rgb '#0072b2'

set output 'sweep-grazing.png'
unset arrow 2
unset label 2
set xlabel 'a: amplitude without the stop'
set ylabel 'x at every period of the force'
set arrow 1 from 1, graph 0 to 1, graph 1 nohead ls 9
set label 1 'grazing' at 1, graph 0.06 offset 0.8, 0
plot [0.9:1.6] join('grazing.csv') with points pt 7 ps 0.2 lc rgb '#0072b2'
unset arrow 1
unset label 1

unset grid
set output 'sweep-basins.png'
set xlabel 'x at the start'
set ylabel "x' at the start"
set title 'impacts in six periods of the table' font ',11'
set cbrange [0:7]
set palette defined (0 '#ffffff', 3 '#0072b2', 6 '#e69f00', 7 '#d55e00')
plot [0.83:13.17] [-4.17:8.17] 'basins.csv' using 3:2:6 every ::1 with image

set output 'sweep-rattle.png'
set xlabel 'w (rad/s)'
set ylabel 'drag (mN m s)'
set title 'energy lost in impacts in 0.15 s (J)' font ',11'
set autoscale cb
set palette defined (0 '#ffffff', 0.02 '#dbe9f6', 1 '#0072b2', 2 '#e69f00', 3 '#d55e00')
set label 1 'silent by theory' at 100, 0.8
plot [77.5:242.5] [0.085:1.015] 'rattle.csv' using 4:(1000*$3):7 every ::1 with image, 1e3*1e-4*0.02*x**2/sqrt(80**2 - (0.02*x)**2) ls 9
unset label 1
unset title

set output 'sweep-clearance.png'
set grid ls 100
set xlabel 'clearance (mm)'
set ylabel 'energy lost in impacts until 0.15 s (J)'
plot 'clearance.csv' using (1000*$2):5 every ::1 with points pt 7 ps 0.5 lc rgb '#0072b2'
