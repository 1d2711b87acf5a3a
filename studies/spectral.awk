# spectral.awk: spectral radii of a scheme from a run of uncoupled oscillators (oscillators.awk) with unit step, one row per frequency:
# curve, h omega, radius of the run, radius of the amplification matrix.
#
# wants curve, omega (the list), m (steps of the recurrence: 2 or 3), alpha_m, alpha_f, gamma, beta.  Positions and velocities obey one linear recurrence
# x_{k+m} = c_{m-1} x_{k+m-1} + ... + c_0 x_k, whose coefficients follow from the first states; the roots of its polynomial are the eigenvalues.

# Coefficients c[0 .. m-1] by elimination: A c = b, rows in A[i, j], b = A[i, m].
function solve(m,    i, j, k, best, x) {
    for (k = 0; k < m; ++k) {
        best = k
        for (i = k + 1; i < m; ++i) if (abs(A[i, k]) > abs(A[best, k])) best = i
        for (j = k; j <= m; ++j) { x = A[k, j]; A[k, j] = A[best, j]; A[best, j] = x }
        for (i = 0; i < m; ++i) {
            if (i == k || A[k, k] == 0) continue
            x = A[i, k]/A[k, k]
            for (j = k; j <= m; ++j) A[i, j] -= x*A[k, j]
        }
    }
    for (k = 0; k < m; ++k) c[k] = A[k, k] == 0 ? 0 : A[k, m]/A[k, k]
}
function abs(x) { return x < 0 ? -x : x }

# Largest root of r^m = c[m-1] r^{m-1} + ... + c[0] in magnitude, all by the iteration of Durand and Kerner.
function radius(m,    i, j, k, a, b, t, re, im, x, y, most, change) {
    for (i = 0; i < m; ++i) { re[i] = 0.4*cos(1 + 2*i); im[i] = 0.9*sin(1 + 2*i) }
    for (k = change = 1; k < 500 && change > 1e-14; ++k) {
        change = 0
        for (i = 0; i < m; ++i) {
            a = 1; b = 0 # the polynomial at root i, by Horner's rule
            for (j = m - 1; j >= 0; --j) { t = a*re[i] - b*im[i] - c[j]; b = a*im[i] + b*re[i]; a = t }
            for (j = 0; j < m; ++j) {
                if (j == i) continue
                x = re[i] - re[j]; y = im[i] - im[j]
                t = x*x + y*y
                if (t < 1e-30) t = 1e-30
                x /= t; y /= t # (a + ib)/(re_i - re_j)
                t = a*x + b*y; b = b*x - a*y; a = t
            }
            re[i] -= a; im[i] -= b
            change += abs(a) + abs(b)
        }
    }
    most = 0
    for (i = 0; i < m; ++i) { t = sqrt(re[i]^2 + im[i]^2); if (t > most) most = t }
    return most
}

# Characteristic polynomial of the amplification matrix for (q, h v, h^2 a).
function formula(w,    d, f, i, M, tr, minors, det) {
    d = 1 - alpha_m + w*(1 - alpha_f)*beta
    M[3, 1] = -w/d; M[3, 2] = -w*(1 - alpha_f)/d; M[3, 3] = (-alpha_m - w*(1 - alpha_f)*(0.5 - beta))/d
    for (i = 1; i <= 3; ++i) {
        M[1, i] = (i == 1) + (i == 2) + (i == 3)*(0.5 - beta) + beta*M[3, i]
        M[2, i] = (i == 2) + (i == 3)*(1 - gamma) + gamma*M[3, i]
    }
    tr = M[1, 1] + M[2, 2] + M[3, 3]
    minors = M[1, 1]*M[2, 2] - M[1, 2]*M[2, 1] + M[1, 1]*M[3, 3] - M[1, 3]*M[3, 1] + M[2, 2]*M[3, 3] - M[2, 3]*M[3, 2]
    det = M[1, 1]*(M[2, 2]*M[3, 3] - M[2, 3]*M[3, 2]) - M[1, 2]*(M[2, 1]*M[3, 3] - M[2, 3]*M[3, 1]) + M[1, 3]*(M[2, 1]*M[3, 2] - M[2, 2]*M[3, 1])
    c[2] = tr; c[1] = -minors; c[0] = det
    return radius(3)
}

NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; n = split(omega, w, " "); next }
{ for (i = 1; i <= n; ++i) { q[NR - 2, i] = $column["q" i]; v[NR - 2, i] = $column["q" i "'"] } }
END {
    for (i = 1; i <= n; ++i) {
        row = 0
        for (k = 0; row < m; ++k) { # a row from the positions, a row from the velocities, which are as large
            for (j = 0; j <= m; ++j) A[row, j] = q[k + j, i]
            ++row
            for (j = 0; j <= m && row < m; ++j) A[row, j] = v[k + j, i]
            ++row
        }
        solve(m)
        printf "%s,%.17g,%.9f,%.9f\n", curve, w[i], radius(m), formula(w[i]^2)
    }
}
