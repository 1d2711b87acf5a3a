// plane.js: planar drawings on a canvas.  World coordinates have y up; one scale for both axes.
import { between, range, withUnit } from './data.js';
import { bends, deflected } from './deflect.js';
import { larger, stays } from './extent.js';
import { alpha, colour, dealer, faint, ground, hit, ink, mix, muted, nth } from './colour.js';

const nice = x => {
    const p = 10 ** Math.floor(Math.log10(x)), f = x / p;
    return (f < 1.5 ? 1 : f < 3.5 ? 2 : f < 7.5 ? 5 : 10) * p;
};

export class Plane {
    constructor(holder, data, contacts) {
        Object.assign(this, { holder, data, contacts, options: { forces: true, names: false, axes: false }, deflection: 1, follow: -1 });
        this.canvas = document.createElement('canvas');
        this.canvas.className = 'scene';
        holder.append(this.canvas);
        this.ctx = this.canvas.getContext('2d');
        const deal = dealer();
        this.shapes = data.page.shapes.filter(s => s.figure !== 'contact').map(s => {
            const channel = k => data.channel(s.at + k), sizes = [], points = [];
            for (let k = 0; k < s.sizes; ++k) sizes.push(channel(k));
            for (let k = 0; k < s.points; ++k) points.push([channel(s.sizes + 2 * k), channel(s.sizes + 2 * k + 1)]);
            const own = deal(s);
            return { ...s, size: sizes, point: points, angle: s.turn ? channel(s.sizes + 2 * s.points) : null,
                     paint: () => s.colour ? colour(s.colour) : own === null ? muted() : nth(own) };
        });
        this.bounds = this.reach();
        this.fit();
        this.mouse();
    }

    // The box around what is to be seen: everything at all times, but for bodies that left the rest; with them it is `all`, where there are such.
    reach() {
        const movers = this.shapes.filter(s => !s.endless && s.points > 0 && (s.of || s.point[0].some((_, j) => !this.data.constant(s.at + s.sizes + j))));
        const round = s => s.figure === 'circle' ? s.size[0][0] : s.figure === 'box' ? Math.hypot(s.size[0][0], s.size[1][0]) / 2 : 0;
        const near = stays(this.data.rows, movers.length, 2, (i, b, j) => movers[b].point[0][j][i], b => round(movers[b])), whole = this.around(this.shapes, null), moving = new Set(movers);
        const part = near && this.around(this.shapes.filter(s => !moving.has(s)), near), pair = b => ({ low: b.slice(0, 2), high: b.slice(2) });
        this.all = near && larger(pair(whole), pair(part)) ? whole : null;
        const box = this.all ? part : whole;
        this.size = Math.max(box[2] - box[0], box[3] - box[1]) || 1;
        return box;
    }

    // Around these shapes at all times, and around what is given.
    around(shapes, near) {
        let box = near ? [...near.low, ...near.high] : [Infinity, Infinity, -Infinity, -Infinity];
        const grow = (x, y, r) => {
            if (![x[0], x[1], y[0], y[1], r].every(Number.isFinite)) return;
            box = [Math.min(box[0], x[0] - r), Math.min(box[1], y[0] - r), Math.max(box[2], x[1] + r), Math.max(box[3], y[1] + r)];
        };
        for (const s of shapes) {
            if (s.endless) continue;
            let r = 0;
            if (s.figure === 'box') r = Math.hypot(range(s.size[0])[1], range(s.size[1])[1]) / 2;
            if (s.figure === 'circle') r = range(s.size[0])[1];
            if (s.figure === 'box' && !s.angle) {
                const [w, h] = s.size.map(x => range(x)[1] / 2), [x, y] = s.point[0].map(range);
                grow([x[0] - w, x[1] + w], [y[0] - h, y[1] + h], 0);
                continue;
            }
            for (const p of s.point) grow(range(p[0]), range(p[1]), r);
        }
        if (!near) for (const c of this.contacts.list) grow(range(c.place[0]), range(c.place[1]), 0);
        if (!(box[2] >= box[0])) box = [-1, -1, 1, 1];
        for (const s of shapes.filter(s => s.endless)) { // where it is nearest to the rest at the start
            const [a, b] = s.point.map(p => [p[0][0], p[1][0]]), d = [b[0] - a[0], b[1] - a[1]], m = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
            const f = ((m[0] - a[0]) * d[0] + (m[1] - a[1]) * d[1]) / (d[0] * d[0] + d[1] * d[1]), x = a[0] + f * d[0], y = a[1] + f * d[1];
            grow([x, x], [y, y], 0);
        }
        return box;
    }

    fit(everything = false) { this.view = this.followed = null; this.wide = everything && this.all; this.moved = false; }

    /** From where one looks, to be kept while the page loads itself again. */
    get look() { return this.view; }
    set look(view) { this.view = view; }

    // The view moves with the middle of a shape.
    chase(i, f) {
        const s = this.shapes[this.follow];
        if (!s) { this.followed = null; return; }
        const at = [0, 1].map(k => s.point.reduce((sum, p) => sum + between(p[k], i, f), 0) / s.point.length);
        if (!at.every(Number.isFinite)) return;
        if (this.followed) { this.view.x += at[0] - this.followed[0]; this.view.y += at[1] - this.followed[1]; }
        this.followed = at;
    }

    resize() {
        const w = this.holder.clientWidth, h = this.holder.clientHeight, ratio = Math.min(window.devicePixelRatio || 1, 2);
        if (this.canvas.width !== Math.round(w * ratio) || this.canvas.height !== Math.round(h * ratio)) {
            this.canvas.width = Math.round(w * ratio);
            this.canvas.height = Math.round(h * ratio);
        }
        if ((w !== this.w || h !== this.h) && !this.moved && !this.followed) this.view = null; // what was fitted is fitted to the new size
        Object.assign(this, { w, h, ratio });
        if (this.view) return;
        const [x0, y0, x1, y1] = this.wide || this.bounds, side = 30, top = this.holder.closest('.film') ? 44 : 22, bottom = 38; // a film has its time above
        const scale = Math.min((w - 2 * side) / Math.max(x1 - x0, 1e-3 * this.size), (h - top - bottom) / Math.max(y1 - y0, 1e-3 * this.size));
        this.view = { scale: Math.max(scale, 1e-12), x: (x0 + x1) / 2, y: (y0 + y1) / 2 + (top - bottom) / 2 / Math.max(scale, 1e-12) };
    }

    X(x) { return this.w / 2 + (x - this.view.x) * this.view.scale; }
    Y(y) { return this.h / 2 - (y - this.view.y) * this.view.scale; }

    mouse() {
        const c = this.canvas;
        c.addEventListener('wheel', e => {
            e.preventDefault();
            const f = Math.exp(-e.deltaY * 0.0015), v = this.view;
            const x = v.x + (e.offsetX - this.w / 2) / v.scale, y = v.y - (e.offsetY - this.h / 2) / v.scale;
            v.scale *= f;
            this.moved = true;
            v.x = x - (e.offsetX - this.w / 2) / v.scale;
            v.y = y + (e.offsetY - this.h / 2) / v.scale;
            this.changed?.();
        }, { passive: false });
        let from = null;
        c.addEventListener('pointerdown', e => { from = [e.clientX, e.clientY]; c.setPointerCapture(e.pointerId); });
        c.addEventListener('pointermove', e => {
            if (!from) return;
            this.moved = true;
            this.view.x -= (e.clientX - from[0]) / this.view.scale;
            this.view.y += (e.clientY - from[1]) / this.view.scale;
            from = [e.clientX, e.clientY];
            this.changed?.();
        });
        const end = () => { from = null; };
        c.addEventListener('pointerup', end);
        c.addEventListener('pointercancel', end);
        c.addEventListener('dblclick', () => { this.fit(); this.changed?.(); });
    }

    draw(t, speed) {
        this.resize();
        const { ctx, data, ratio, w, h } = this, [i, s] = data.place(t);
        this.chase(i, s);
        ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
        ctx.fillStyle = ground();
        ctx.fillRect(0, 0, w, h);
        ctx.lineCap = ctx.lineJoin = 'round';
        this.grid();
        for (const shape of this.shapes) if (shape.trace) this.trace(shape, i, s);
        for (const shape of this.shapes) this.shape(shape, i, s);
        this.flashes(t, speed);
        this.touches(i, s);
        if (this.options.names) this.names(i, s);
        if (this.options.axes) this.axes();
    }

    grid() {
        const { ctx, w, h, view } = this, step = nice(70 / view.scale);
        ctx.strokeStyle = faint();
        ctx.lineWidth = 1;
        ctx.beginPath();
        for (let x = Math.ceil((view.x - w / 2 / view.scale) / step) * step; this.X(x) < w; x += step) {
            const p = Math.round(this.X(x)) + 0.5;
            ctx.moveTo(p, 0), ctx.lineTo(p, h);
        }
        for (let y = Math.ceil((view.y - h / 2 / view.scale) / step) * step; this.Y(y) > 0; y += step) {
            const p = Math.round(this.Y(y)) + 0.5;
            ctx.moveTo(0, p), ctx.lineTo(w, p);
        }
        ctx.stroke();
        const bar = step * view.scale, x = w - 18 - bar, y = h - 16;
        ctx.strokeStyle = muted();
        ctx.lineWidth = 1.5;
        ctx.beginPath();
        ctx.moveTo(x, y - 4), ctx.lineTo(x, y), ctx.lineTo(x + bar, y), ctx.lineTo(x + bar, y - 4);
        ctx.stroke();
        ctx.fillStyle = muted();
        ctx.font = '11px system-ui, sans-serif';
        ctx.textAlign = 'center';
        ctx.fillText(`${+step.toPrecision(3)}${this.data.lengthUnit && ` ${this.data.lengthUnit}`}`, x + bar / 2, y - 7);
    }

    // Both axes from the origin, and numbers beside the lines of the grid.
    axes() {
        const { ctx, w, h, view } = this, step = nice(70 / view.scale), x = this.X(0), y = this.Y(0), digits = Math.max(0, -Math.floor(Math.log10(step)));
        ctx.font = '11px system-ui, sans-serif';
        ctx.fillStyle = muted();
        ctx.textAlign = 'center';
        for (let k = Math.ceil((view.x - w / 2 / view.scale) / step); this.X(k * step) < w; ++k) ctx.fillText((k * step).toFixed(digits), this.X(k * step), h - 30);
        ctx.textAlign = 'left';
        for (let k = Math.ceil((view.y - h / 2 / view.scale) / step); this.Y(k * step) > 0; ++k) ctx.fillText((k * step).toFixed(digits), 6, this.Y(k * step) - 3);
        this.arrow(x, y, 56, 0, colour('red'), 2);
        this.arrow(x, y, 0, -56, colour('green'), 2);
        ctx.fillStyle = ink();
        ctx.fillText(withUnit('x', this.data.lengthUnit), x + 60, y + 4);
        ctx.fillText(withUnit('y', this.data.lengthUnit), x - 3, y - 62);
    }

    // -- shapes ---------------------------------------------------------------------------------------------

    shape(s, i, f) {
        let now = s.point.map(([x, y]) => [between(x, i, f), between(y, i, f)]);
        if (this.deflection !== 1 && bends(s)) now = deflected(now, s.point.map(([x, y]) => [x[0], y[0]]), this.deflection);
        const p = s.endless ? this.across(now) : now.map(([x, y]) => [this.X(x), this.Y(y)]);
        const size = s.size.map(x => between(x, i, f) * this.view.scale), angle = s.angle ? -between(s.angle, i, f) : 0;
        if (!p.flat().every(Number.isFinite) || !size.every(Number.isFinite)) return;
        this[s.figure]?.(s, p, size, angle);
    }

    // A line without an end, over the whole picture.
    across([[ax, ay], [bx, by]]) {
        const a = [this.X(ax), this.Y(ay)], b = [this.X(bx), this.Y(by)], l = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1, u = [(b[0] - a[0]) / l, (b[1] - a[1]) / l];
        const mid = (this.w / 2 - a[0]) * u[0] + (this.h / 2 - a[1]) * u[1], r = this.w + this.h;
        return [mid - r, mid + r].map(d => [a[0] + d * u[0], a[1] + d * u[1]]);
    }

    width(size, share, least) {
        return size.length ? Math.max(size[0], 1) : Math.max(least, Math.min(14, share * this.size * this.view.scale));
    }

    path(points, closed) {
        const { ctx } = this;
        ctx.beginPath();
        points.forEach(([x, y], k) => k ? ctx.lineTo(x, y) : ctx.moveTo(x, y));
        if (closed) ctx.closePath();
    }

    fill(c) {
        const { ctx } = this;
        ctx.fillStyle = mix(c, ground(), 0.55);
        ctx.strokeStyle = c;
        ctx.lineWidth = 2;
        ctx.fill();
        ctx.stroke();
    }

    point(s, [p], size) {
        const { ctx } = this, r = size.length ? Math.max(size[0] / 2, 1) : 4.5;
        ctx.beginPath();
        ctx.arc(p[0], p[1], r, 0, 2 * Math.PI);
        ctx.fillStyle = ground();
        ctx.strokeStyle = s.colour ? s.paint() : ink();
        ctx.lineWidth = 2;
        ctx.fill();
        ctx.stroke();
    }

    segment(s, p, size) {
        const { ctx } = this, w = this.width(size, 0.022, 6), c = s.paint();
        this.path(p);
        ctx.strokeStyle = c;
        ctx.lineWidth = w;
        ctx.stroke();
        if (w < 6) return;
        ctx.strokeStyle = mix(c, ground(), 0.55);
        ctx.lineWidth = w - 3.5;
        ctx.stroke();
    }

    line(s, p, size) {
        this.path(p);
        this.ctx.strokeStyle = s.paint();
        this.ctx.lineWidth = this.width(size, 0.006, 2.5);
        this.ctx.stroke();
    }

    polygon(s, p) {
        this.path(p, true);
        this.fill(s.paint());
    }

    box(s, [p], [a, b], angle) {
        const { ctx } = this, r = Math.max(0, Math.min(4, Math.abs(a) / 6, Math.abs(b) / 6));
        ctx.save();
        ctx.translate(p[0], p[1]);
        ctx.rotate(angle);
        ctx.beginPath();
        if (ctx.roundRect) ctx.roundRect(-a / 2, -b / 2, a, b, r); else ctx.rect(-a / 2, -b / 2, a, b);
        ctx.restore();
        this.fill(s.paint());
    }

    circle(s, [p], [r], angle) {
        const { ctx } = this, c = s.paint();
        ctx.beginPath();
        ctx.arc(p[0], p[1], Math.abs(r), 0, 2 * Math.PI);
        this.fill(c);
        if (!s.angle) return;
        ctx.beginPath();
        ctx.moveTo(p[0], p[1]);
        ctx.lineTo(p[0] + r * Math.cos(angle), p[1] + r * Math.sin(angle));
        ctx.stroke();
    }

    spring(s, [a, b], size) {
        const { ctx } = this, dx = b[0] - a[0], dy = b[1] - a[1], length = Math.hypot(dx, dy) || 1, turns = 8, lead = 0.1;
        const w = (size.length ? size[0] : 0.06 * this.size * this.view.scale) / 2, ux = dx / length, uy = dy / length;
        const at = (u, v) => [a[0] + u * dx - v * uy, a[1] + u * dy + v * ux], p = [a, at(lead, 0)];
        for (let k = 0; k < 2 * turns; ++k) p.push(at(lead + (1 - 2 * lead) * (k + 0.5) / (2 * turns), k % 2 ? -w : w));
        p.push(at(1 - lead, 0), b);
        this.path(p);
        ctx.strokeStyle = s.paint();
        ctx.lineWidth = 2;
        ctx.stroke();
    }

    // A line, and hatching on the right-hand side of who walks along.
    wall(s, p) {
        const { ctx } = this, band = 10, n = p.length, closed = n > 2 && Math.hypot(p[0][0] - p[n - 1][0], p[0][1] - p[n - 1][1]) < 1e-6;
        const unit = (a, b) => { const l = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1; return [-(b[1] - a[1]) / l, (b[0] - a[0]) / l]; };
        const off = p.map((q, k) => { // joints by mitres
            const before = k > 0 ? unit(p[k - 1], q) : closed ? unit(p[n - 2], p[n - 1]) : null;
            const behind = k < n - 1 ? unit(q, p[k + 1]) : closed ? unit(p[0], p[1]) : null;
            const a = before || behind, b = behind || before, m = [a[0] + b[0], a[1] + b[1]], l = Math.max(0.3, 1 + a[0] * b[0] + a[1] * b[1]);
            return [q[0] + band * m[0] / l, q[1] + band * m[1] / l];
        });
        const c = s.colour ? s.paint() : muted();
        this.path([...p, ...off.reverse()], true);
        ctx.fillStyle = this.hatch(c);
        ctx.fill();
        this.path(p);
        ctx.strokeStyle = c;
        ctx.lineWidth = 2;
        ctx.stroke();
    }

    hatch(c) {
        this.hatches ||= new Map();
        const key = c + this.ratio;
        if (!this.hatches.has(key)) {
            const tile = document.createElement('canvas'), n = Math.round(6 * this.ratio);
            tile.width = tile.height = n;
            const x = tile.getContext('2d');
            x.strokeStyle = alpha(c, 0.75);
            x.lineWidth = this.ratio;
            x.beginPath();
            x.moveTo(-1, n + 1), x.lineTo(n + 1, -1), x.moveTo(-1, 1), x.lineTo(1, -1), x.moveTo(n - 1, n + 1), x.lineTo(n + 1, n - 1);
            x.stroke();
            const pattern = this.ctx.createPattern(tile, 'repeat');
            pattern.setTransform?.(new DOMMatrix().scale(1 / this.ratio));
            this.hatches.set(key, pattern);
        }
        return this.hatches.get(key);
    }

    trace(s, i, f) {
        const { ctx, data } = this, [x, y] = s.point[s.point.length - 1], c = s.paint();
        const from = data.row(data.t[i] - 0.2 * (data.end - data.start)), step = Math.max(1, Math.floor(data.rows / 4000));
        const run = (a, b, end) => {
            ctx.beginPath();
            for (let k = a; k <= b; k += step) k === a ? ctx.moveTo(this.X(x[k]), this.Y(y[k])) : ctx.lineTo(this.X(x[k]), this.Y(y[k]));
            if (end) ctx.lineTo(this.X(between(x, i, f)), this.Y(between(y, i, f)));
            ctx.stroke();
        };
        ctx.lineWidth = 1.25;
        ctx.strokeStyle = alpha(c, 0.22);
        run(0, data.rows - 1, false);
        ctx.strokeStyle = alpha(c, 0.8);
        run(from, i, true);
    }

    // -- contacts -------------------------------------------------------------------------------------------

    arrow(x, y, dx, dy, c, width) {
        const { ctx } = this, length = Math.hypot(dx, dy), head = Math.min(10, 0.6 * length) + 1, ux = dx / length, uy = dy / length;
        if (!(length > 2)) return;
        ctx.strokeStyle = ctx.fillStyle = c;
        ctx.lineWidth = width;
        ctx.beginPath();
        ctx.moveTo(x, y);
        ctx.lineTo(x + dx - 0.8 * head * ux, y + dy - 0.8 * head * uy);
        ctx.stroke();
        ctx.beginPath();
        ctx.moveTo(x + dx, y + dy);
        ctx.lineTo(x + dx - head * ux - 0.45 * head * uy, y + dy - head * uy + 0.45 * head * ux);
        ctx.lineTo(x + dx - head * ux + 0.45 * head * uy, y + dy - head * uy - 0.45 * head * ux);
        ctx.fill();
    }

    touches(i, f) {
        const { ctx, contacts } = this, reach = 0.16 * Math.min(this.w, this.h);
        for (const c of contacts.list) {
            const [px, py] = contacts.point(c, i, f), x = this.X(px), y = this.Y(py), size = contacts.size(c, i, f);
            if (!Number.isFinite(x + y)) continue;
            const closed = size > contacts.threshold && !c.bilateral, tone = c.colour ? colour(c.colour) : c.bilateral ? colour('sky') : hit();
            if (size > contacts.threshold && this.options.forces) {
                const [fx, fy] = contacts.force(c, i, f), l = Math.hypot(fx, fy), r = l / contacts.typical;
                const length = reach * (r < 1 ? r : 1 + 0.35 * Math.log(r));
                if (l > 0) this.arrow(x, y, fx / l * length, -fy / l * length, tone, 2.5);
            }
            if (c.bilateral) continue;
            if (closed) {
                const glow = ctx.createRadialGradient(x, y, 0, x, y, 14);
                glow.addColorStop(0, alpha(tone, 0.55));
                glow.addColorStop(1, alpha(tone, 0));
                ctx.fillStyle = glow;
                ctx.beginPath();
                ctx.arc(x, y, 14, 0, 2 * Math.PI);
                ctx.fill();
            }
            ctx.beginPath();
            ctx.arc(x, y, closed ? 4.5 : 3, 0, 2 * Math.PI);
            ctx.fillStyle = closed ? tone : ground();
            ctx.strokeStyle = closed ? ground() : alpha(muted(), 0.9);
            ctx.lineWidth = 1.5;
            ctx.fill();
            ctx.stroke();
        }
    }

    flashes(t, speed) {
        const { ctx, contacts, data } = this, reach = 0.2 * Math.min(this.w, this.h);
        for (const { contact, age, strength, time, impulse } of contacts.flashes(t, speed)) {
            const [i, f] = data.place(time), [px, py] = contacts.point(contact, i, f), x = this.X(px), y = this.Y(py);
            if (!Number.isFinite(x + y)) continue;
            const r = (8 + 34 * strength) * (0.35 + age), fade = (1 - age) ** 2;
            const glow = ctx.createRadialGradient(x, y, 0, x, y, r);
            glow.addColorStop(0, alpha(hit(), 0.7 * fade));
            glow.addColorStop(1, alpha(hit(), 0));
            ctx.fillStyle = glow;
            ctx.beginPath();
            ctx.arc(x, y, r, 0, 2 * Math.PI);
            ctx.fill();
            ctx.strokeStyle = alpha(hit(), 0.9 * fade);
            ctx.lineWidth = 0.5 + 2.5 * strength * (1 - age);
            ctx.beginPath();
            ctx.arc(x, y, r * 0.9, 0, 2 * Math.PI);
            ctx.stroke();
            if (!this.options.forces) continue;
            const [dx, dy] = contacts.direction(contact, 0, i, f), l = Math.hypot(dx, dy) || 1, sign = Math.sign(impulse) || 1;
            const length = sign * reach * strength * strength;
            this.arrow(x, y, dx / l * length, -dy / l * length, alpha(hit(), 0.75 * fade), 3);
        }
    }

    names(i, f) {
        const { ctx } = this;
        ctx.font = '12px system-ui, sans-serif';
        ctx.textAlign = 'left';
        ctx.lineWidth = 3;
        const put = (text, x, y) => {
            ctx.strokeStyle = ground();
            ctx.strokeText(text, x + 8, y - 8);
            ctx.fillStyle = ink();
            ctx.fillText(text, x + 8, y - 8);
        };
        for (const s of this.shapes) {
            const n = s.point.length, mean = k => s.point.reduce((sum, p) => sum + between(p[k], i, f), 0) / n;
            put(s.name, this.X(mean(0)), this.Y(mean(1)));
        }
        for (const c of this.contacts.list) put(c.name, ...(([x, y]) => [this.X(x), this.Y(y)])(this.contacts.point(c, i, f)));
    }
}
