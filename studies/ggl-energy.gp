# ggl-energy.gp: energy of the slider-crank with clearance over 4 s, and its distance from the event-driven one.  Wants style and picture; reads energy-*.csv.
load style
set terminal pngcairo size 820,640 font 'sans,10' noenhanced background '#ffffff'
set output picture
set multiplot layout 2,1 margins 0.1,0.97,0.08,0.965 spacing 0.02,0.08
set xrange [0:4]
set key right top
set ylabel 'energy (J)'
plot 'energy-moreau.csv' using "t":"energy" with lines ls 1 title 'moreau-midpoint', \
     'energy-decoupled.csv' using "t":"energy" with lines ls 5 title 'decoupled (ggl-projection)', \
     'energy-velocity.csv' using "t":"energy" with lines ls 2 title 'unified, velocity level alone', \
     'energy-unified.csv' using "t":"energy" with lines ls 3 title 'unified (ggl-midpoint)', \
     'energy-event-driven.csv' using "t":"energy" with lines ls 9 title 'event-driven'
# Rows of both files are 2 ms apart: the k-th of one is beside the k-th of the other.
beside(name) = sprintf('< paste -d, energy-event-driven.csv energy-%s.csv', name)
columns = int(system("head -1 energy-event-driven.csv | tr ',' '\n' | wc -l"))
energy = int(system("head -1 energy-event-driven.csv | tr ',' '\n' | grep -n '^energy$' | cut -d: -f1"))
set ylabel 'minus event-driven (J)'
set xlabel 'time (s)' offset 0,0.6
set key left bottom
plot beside('moreau') every ::1 using 1:(column(columns + energy) - column(energy)) with lines ls 1 title 'moreau-midpoint', \
     beside('decoupled') every ::1 using 1:(column(columns + energy) - column(energy)) with lines ls 5 title 'decoupled', \
     beside('velocity') every ::1 using 1:(column(columns + energy) - column(energy)) with lines ls 2 title 'unified, velocity level alone', \
     beside('unified') every ::1 using 1:(column(columns + energy) - column(energy)) with lines ls 3 title 'unified', \
     beside('exact') every ::1 using 1:(column(columns + energy) - column(energy)) with lines ls 4 title 'unified, local=exact', \
     0 with lines lc rgb '#999999' lw 0.7 notitle
unset multiplot
