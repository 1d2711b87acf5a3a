# transmitted.awk: impulses summed and forces integrated (trapezoidal rule) of one contact of the ball in a box, as a row of Markdown.
NR == 1 {
    for (i = 1; i <= NF; ++i) column[$i] = i
    pi = atan2(0, -1)
    next
}
{
    t = $column["t"]
    force = $column[contact ".force"]
    now = $column[contact ".impulse"]
    if (now > 0 && NR > 2 && (force*(t - before)/now - 1)^2 < 1e-12) force = 0 # of a scheme that knows impulses only: it is the impulse
    impulse += now
    if (NR > 2) smooth += (t - before)*(force + last)/2
    before = t
    last = force
}
END { printf "| %s, %s | %.4f | %.4f | %.4f | %.4f |\n", scheme, contact, impulse, smooth, impulse + smooth, 9.81*(contact == "left" ? cos(pi/6) : sin(pi/6))*t }
