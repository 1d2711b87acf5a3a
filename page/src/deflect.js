// deflect.js: deflections drawn larger than they are: what is left of the points of a line when its shape at the start has been turned and moved onto it as well as
// can be (least squares) is multiplied.

const mean = points => points[0].map((_, k) => points.reduce((sum, p) => sum + p[k], 0) / points.length);
const minus = (points, m) => points.map(p => p.map((x, k) => x - m[k]));

function turnPlane(r, c) { // the angle that brings r onto c
    let dot = 0, cross = 0;
    r.forEach((p, i) => { dot += p[0] * c[i][0] + p[1] * c[i][1]; cross += p[0] * c[i][1] - p[1] * c[i][0]; });
    const a = Math.atan2(cross, dot), [x, y] = [Math.cos(a), Math.sin(a)];
    return p => [x * p[0] - y * p[1], y * p[0] + x * p[1]];
}

function turnSpace(r, c) { // Horn's quaternion: the largest eigenvector of a symmetric matrix of 4 x 4, by powers of it
    const S = [0, 1, 2].map(i => [0, 1, 2].map(j => r.reduce((sum, p, k) => sum + p[i] * c[k][j], 0)));
    const N = [[S[0][0] + S[1][1] + S[2][2], S[1][2] - S[2][1], S[2][0] - S[0][2], S[0][1] - S[1][0]],
               [S[1][2] - S[2][1], S[0][0] - S[1][1] - S[2][2], S[0][1] + S[1][0], S[2][0] + S[0][2]],
               [S[2][0] - S[0][2], S[0][1] + S[1][0], S[1][1] - S[0][0] - S[2][2], S[1][2] + S[2][1]],
               [S[0][1] - S[1][0], S[2][0] + S[0][2], S[1][2] + S[2][1], S[2][2] - S[0][0] - S[1][1]]];
    const shift = N.flat().reduce((sum, x) => sum + Math.abs(x), 0) || 1;
    let q = [1, 0.1, 0.1, 0.1];
    for (let k = 0; k < 200; ++k) {
        q = N.map((row, i) => row.reduce((sum, x, j) => sum + x * q[j], shift * q[i]));
        const l = Math.hypot(...q);
        q = q.map(x => x / l);
    }
    const [w, x, y, z] = q;
    return p => [
        (1 - 2 * (y * y + z * z)) * p[0] + 2 * (x * y - w * z) * p[1] + 2 * (x * z + w * y) * p[2],
        2 * (x * y + w * z) * p[0] + (1 - 2 * (x * x + z * z)) * p[1] + 2 * (y * z - w * x) * p[2],
        2 * (x * z - w * y) * p[0] + 2 * (y * z + w * x) * p[1] + (1 - 2 * (x * x + y * y)) * p[2]];
}

/** Can deflections of this shape be drawn larger? */
export const bends = s => (s.figure === 'line' || s.figure === 'segment') && s.points >= 3;

/** Does it really bend, in some of the rows? */
export function deforms(s, rows) {
    if (!bends(s)) return false;
    const at = i => s.point.map(p => p.map(x => x[i])), rest = at(0), size = Math.hypot(...rest[0].map((x, k) => x - rest[rest.length - 1][k])) || 1;
    for (let i = 0; i < rows; i += Math.max(1, Math.floor(rows / 30))) {
        const now = at(i), twice = deflected(now, rest, 2);
        if (now.some((p, k) => Math.hypot(...p.map((x, j) => x - twice[k][j])) > 1e-5 * size)) return true;
    }
    return false;
}

/** Points now, those at the start, and the factor. */
export function deflected(points, rest, scale) {
    if (scale === 1 || !points.flat().every(Number.isFinite)) return points;
    const m = mean(points), r = minus(rest, mean(rest)), turn = (points[0].length === 2 ? turnPlane : turnSpace)(r, minus(points, m));
    return points.map((p, i) => turn(r[i]).map((x, k) => m[k] + x + scale * (p[k] - m[k] - x)));
}
