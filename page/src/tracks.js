// tracks.js: what is shown of a model that does not draw itself: every coordinate on a track of its own, or, when there are many,
// as one profile; contacts as lamps.
import { between, range, show } from './data.js';
import { alpha, faint, ground, hit, ink, muted, nth } from './colour.js';

const MOST = 16;

export class Tracks {
    constructor(holder, data) {
        Object.assign(this, { holder, data, options: {} });
        this.canvas = document.createElement('canvas');
        this.canvas.className = 'scene';
        holder.append(this.canvas);
        this.ctx = this.canvas.getContext('2d');
        this.coordinates = (data.positions.length ? data.positions : data.columns.slice(1, 1 + MOST)).map(name => ({ name, x: data.column(name), range: range(data.column(name)) }));
        this.contacts = data.columns.filter(c => c.endsWith(".gap'")).map(c => c.slice(0, -5))
            .map(name => ({ name, force: data.column(`${name}.force`), impulse: data.column(`${name}.impulse`), gap: data.column(`${name}.gap`) }));
    }

    fit() {}

    draw(t) {
        const w = this.holder.clientWidth, h = this.holder.clientHeight, ratio = Math.min(window.devicePixelRatio || 1, 2), { ctx, canvas, data } = this;
        if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
            canvas.width = Math.round(w * ratio);
            canvas.height = Math.round(h * ratio);
        }
        ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
        ctx.fillStyle = ground();
        ctx.fillRect(0, 0, w, h);
        ctx.font = '13px system-ui, sans-serif';
        const [i, f] = data.place(t), lamps = Math.min(this.contacts.length, MOST);
        const below = lamps ? 40 : 0;
        if (this.coordinates.length > MOST) this.profile(i, f, w, h - below);
        else this.tracks(i, f, w, h - below);
        this.lamps(i, f, w, h, lamps);
    }

    tracks(i, f, w, h) {
        const { ctx } = this, n = this.coordinates.length, step = Math.min(64, (h - 70) / Math.max(n, 1)), left = 110, right = w - 110;
        const top = (h - step * n) / 2 + step / 2 + 12;
        this.coordinates.forEach(({ name, x, range: [low, high] }, k) => {
            const y = top + k * step, value = between(x, i, f), s = high > low ? (value - low) / (high - low) : 0.5, p = left + s * (right - left);
            ctx.strokeStyle = faint();
            ctx.lineWidth = 6;
            ctx.lineCap = 'round';
            ctx.beginPath(), ctx.moveTo(left, y), ctx.lineTo(right, y), ctx.stroke();
            if (low < 0 && high > 0) {
                const zero = left - low / (high - low) * (right - left);
                ctx.strokeStyle = muted();
                ctx.lineWidth = 1;
                ctx.beginPath(), ctx.moveTo(zero, y - 7), ctx.lineTo(zero, y + 7), ctx.stroke();
            }
            ctx.fillStyle = nth(k);
            ctx.beginPath(), ctx.arc(p, y, 9, 0, 2 * Math.PI), ctx.fill();
            ctx.fillStyle = ink();
            ctx.textAlign = 'right';
            ctx.fillText(name, left - 22, y + 4);
            ctx.textAlign = 'left';
            ctx.fillText(show(value), right + 22, y + 4);
        });
    }

    profile(i, f, w, h) {
        const { ctx } = this, n = this.coordinates.length, left = 40, right = w - 30, top = 50, bottom = h - 30;
        const low = Math.min(...this.coordinates.map(c => c.range[0])), high = Math.max(...this.coordinates.map(c => c.range[1])), span = high - low || 1;
        ctx.strokeStyle = faint();
        ctx.strokeRect(left, top, right - left, bottom - top);
        ctx.beginPath();
        this.coordinates.forEach(({ x }, k) => {
            const px = left + (k + 0.5) / n * (right - left), py = bottom - (between(x, i, f) - low) / span * (bottom - top);
            k ? ctx.lineTo(px, py) : ctx.moveTo(px, py);
        });
        ctx.strokeStyle = nth(0);
        ctx.lineWidth = 2;
        ctx.stroke();
        ctx.fillStyle = muted();
        ctx.textAlign = 'left';
        ctx.fillText(`${n} coordinates, ${this.coordinates[0].name} to ${this.coordinates[n - 1].name}`, left, top - 10);
    }

    lamps(i, f, w, h, n) {
        const { ctx } = this, step = (w - 60) / Math.max(n, 1);
        for (let k = 0; k < n; ++k) {
            const c = this.contacts[k], on = between(c.force, i, f) > 0 || c.impulse[Math.min(i + 1, c.impulse.length - 1)] > 0, x = 30 + step * (k + 0.5), y = h - 42;
            ctx.fillStyle = on ? hit() : faint();
            ctx.beginPath(), ctx.arc(x, y, 7, 0, 2 * Math.PI), ctx.fill();
            if (on) {
                ctx.fillStyle = alpha(hit(), 0.25);
                ctx.beginPath(), ctx.arc(x, y, 13, 0, 2 * Math.PI), ctx.fill();
            }
            ctx.fillStyle = muted();
            ctx.textAlign = 'center';
            ctx.fillText(c.name, x, y + 26);
        }
    }
}
