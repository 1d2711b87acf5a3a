# multipliers.gp: forces and impulses of two contacts, with the scheme that splits them and one that does not.
# Wants style, picture, model, contacts, end, unit, time; reads MODEL-half-explicit.csv and MODEL-moreau-explicit.csv.
load style
set terminal pngcairo size 820,640 font 'sans,10' noenhanced background '#ffffff'
set output picture
half = model.'-half-explicit.csv'
moreau = model.'-moreau-explicit.csv'
set multiplot layout 3,1 margins 0.1,0.97,0.08,0.95 spacing 0.02,0.1
set xrange [0:end]
set key at graph 1,1.02 right bottom horizontal
set ylabel 'force (N)'
plot for [i = 1:2] half using (unit*column("t")):(column(word(contacts, i).'.force')) with lines ls i+1 title word(contacts, i).', half-explicit'
set ylabel 'impulse (N s)'
plot for [i = 1:2] half using (unit*column("t")):(column(word(contacts, i).'.impulse')) with impulses ls i+1 title word(contacts, i).', half-explicit'
set ylabel 'impulse (N s)'
set xlabel time offset 0,0.6
plot for [i = 1:2] moreau using (unit*column("t")):(column(word(contacts, i).'.impulse')) with impulses ls i+1 title word(contacts, i).', moreau-explicit'
unset multiplot
