// extent.js: which part of the picture is worth looking at.  Bodies that roll away from the rest must not shrink it.

const LEAST = 12; // bodies; fewer are all shown
const FENCE = 1.5; // of the distance between the quartiles (Tukey): what lies farther out has left

const quartile = (sorted, share) => sorted[Math.round(share * (sorted.length - 1))];

/**
 * The box around what stays together, or null where that is everything.  rows: of the result; n: bodies; dim: axes; at(row, body, axis); radius(body).
 * In some rows, the quartiles of every axis and FENCE times the largest distance between two of them; the box around those boxes, cut to what is really there.
 */
export function stays(rows, n, dim, at, radius) {
    if (n < LEAST) return null;
    const low = new Array(dim).fill(Infinity), high = new Array(dim).fill(-Infinity), x = new Float64Array(n);
    let left = false, size = 0;
    for (let b = 0; b < n; ++b) x[b] = radius(b);
    size = quartile(x.sort(), 0.5);
    for (let k = 0; k < Math.min(rows, 16); ++k) {
        const i = rows > 1 ? Math.round(k / (Math.min(rows, 16) - 1) * (rows - 1)) : 0, q = [];
        let spread = 2 * size;
        for (let a = 0; a < dim; ++a) {
            let m = 0;
            for (let b = 0; b < n; ++b) if (Number.isFinite(at(i, b, a))) x[m++] = at(i, b, a);
            if (m < LEAST) return null;
            const sorted = x.subarray(0, m).sort();
            q.push([quartile(sorted, 0.25), quartile(sorted, 0.75)]);
            spread = Math.max(spread, q[a][1] - q[a][0]);
        }
        const fence = q.map(([a, b]) => [a - FENCE * spread, b + FENCE * spread]);
        for (let b = 0; b < n; ++b) {
            const p = Array.from({ length: dim }, (_, a) => at(i, b, a)), r = radius(b);
            if (!p.every(Number.isFinite)) continue;
            if (p.some((c, a) => c < fence[a][0] || c > fence[a][1])) { left = true; continue; }
            p.forEach((c, a) => { low[a] = Math.min(low[a], c - r); high[a] = Math.max(high[a], c + r); });
        }
    }
    return left && low.every(Number.isFinite) ? { low, high } : null;
}

/** Is the box around everything so much larger that it is worth hiding something?  Boxes as lists of their lowest and highest coordinates. */
export const larger = (all, near) => Math.hypot(...all.high.map((x, k) => x - all.low[k])) > 1.6 * Math.hypot(...near.high.map((x, k) => x - near.low[k]));
