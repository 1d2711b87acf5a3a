# work-precision.gp: errors over work.  Wants style, picture and what (estimates, variable, orders, splitting); reads PROBLEM-*.csv.
load style
tall = what eq 'estimates' || what eq 'orders'
set terminal pngcairo size 1000,(tall ? 680 : 360) font 'sans,10' noenhanced background '#ffffff'
set output picture
set logscale xy
set format '%.0e'
set xtics 10
set datafile missing NaN
set key samplen 1.5 spacing 1.1
rows(file, scheme) = sprintf("< grep '^%s,' %s", scheme, file)
M = 'moreau-jean:adaptive=on'
set multiplot layout (tall ? 2 : 1),2 margins 0.075,0.77,(tall ? 0.075 : 0.14),(tall ? 0.965 : 0.94) spacing 0.075,0.11
do for [p = 1:2] {
    problem = word('ball oscillator', p)
    name = p == 1 ? 'bouncing ball' : 'linear oscillator'
    constant = problem.'-constant.csv'
    if (what eq 'estimates') {
        set xrange [10:4e4]
        set yrange [5e-9:20]
        set xlabel 'number of steps' offset 0,0.4
        set ylabel 'error in q (l1)'
        do for [k = 1:2] {
            file = problem.(k == 1 ? '-estimates.csv' : '-violation.csv')
            set label 1 name.(k == 1 ? ', estimates alone' : ', with the violation') at graph 0.97,0.94 right
            if (p == 1 && k == 2) { set key at screen 0.785,0.93 left top vertical } else { unset key }
            plot constant using 5:3 with linespoints ls 6 title 'equal steps', \
                 for [i = 0:2] rows(file, M.':estimate='.i) using 5:3 with linespoints ls i + 1 title 'order '.i, \
                 rows(file, M) using 5:3 with linespoints ls 4 title 'variable order', \
                 3/x with lines lc rgb '#666666' dt 3 lw 1.3 title 'slope 1'
        }
    }
    if (what eq 'variable') {
        set xrange [2e-5:1e-1]
        set yrange [5e-9:20]
        set xlabel 'CPU time (s)' offset 0,0.4
        set ylabel 'error in q (l1)'
        set label 1 name at graph 0.97,0.94 right
        if (p == 1) { set key at screen 0.785,0.9 left top vertical } else { unset key }
        plot constant using 6:3 with linespoints ls 6 title 'constant time-steps', \
             rows(problem.'-violation.csv', M) using 6:3 with linespoints ls 1 title 'adaptive time-steps'
    }
    if (what eq 'orders') {
        set xrange [2e-5:1e-1]
        set yrange [1e-15:1e3]
        set ytics 100
        set xlabel 'CPU time (s)' offset 0,0.4
        set ylabel 'error in q (l1)'
        do for [k = 1:2] {
            file = problem.(k == 1 ? '-explicit.csv' : '-implicit.csv')
            schemes = k == 1 ? 'mixed:order=2 mixed:order=3 mixed:order=4 mixed:order=5' : \
                      'mixed:rk=gauss:order=2 mixed:rk=radau:order=3 mixed:rk=gauss:order=4 mixed:rk=radau:order=5'
            set label 1 name.(k == 1 ? ', explicit' : ', implicit') at graph 0.97,0.94 right
            set key at screen 0.785,(k == 1 ? 0.95 : 0.75) left top vertical
            if (p == 2) { unset key }
            plot for [i = 1:4] rows(file, word(schemes, i)) using 6:3 with linespoints ls i title word(schemes, i), \
                 constant using 6:3 with linespoints ls 6 title (k == 1 ? 'moreau-jean' : '')
        }
    }
    if (what eq 'splitting') {
        if (p == 1) {
            set xrange [1e-4:0.3]
            set yrange [1e-5:1]
            set xlabel 'step (s)' offset 0,0.4
            set ylabel 'error in q (l1)'
            set label 1 'constant steps' at graph 0.03,0.94
            set key at screen 0.785,0.92 left top vertical
            plot 'ball-splitting.csv' using (strcol(1) eq 'splitting' ? $2 : NaN):3 with linespoints ls 1 title 'ball', \
                 '' using (strcol(1) eq 'splitting:forces=off' ? $2 : NaN):3 with linespoints ls 5 title 'ball, forces=off', \
                 'oscillator-splitting.csv' using (strcol(1) eq 'splitting' ? $2 : NaN):3 with linespoints ls 2 title 'oscillator', \
                 x with lines lc rgb '#666666' dt 3 lw 1.3 title 'order 1'
        } else {
            set xrange [1e-5:1e-1]
            set yrange [1e-10:1]
            set xlabel 'CPU time (s)' offset 0,0.4
            set label 1 'linear oscillator' at graph 0.6,0.94
            set key at screen 0.785,0.6 left top vertical
            plot rows('oscillator-splitting.csv', 'splitting') using 6:3 with linespoints ls 6 title 'constant steps', \
                 rows('oscillator-violation.csv', M) using 6:3 with linespoints ls 1 title 'adaptive Moreau', \
                 rows('oscillator-adaptive.csv', 'splitting:adaptive=on') using 6:3 with linespoints ls 2 title 'adaptive splitting', \
                 rows('oscillator-adaptive.csv', 'event-driven') using 6:3 with linespoints ls 3 title 'event-driven'
        }
    }
    unset label 1
}
unset multiplot
