// player.js: the one time that everything shows.
const speeds = [];
for (let p = -6; p <= 4; ++p) for (const f of [1, 2, 5]) speeds.push(+(f * 10 ** p).toPrecision(1));

export class Player {
    constructor(data, show) {
        Object.assign(this, { data, show, t: data.start, playing: false, loop: true, frames: [] });
        const length = data.end - data.start;
        this.speed = length >= 4 && length <= 30 ? 1 : speeds.reduce((best, s) => Math.abs(Math.log(length / s / 9)) < Math.abs(Math.log(length / best / 9)) ? s : best);
        this.tick = this.tick.bind(this);
    }

    tick(now) {
        if (!this.playing) return;
        const gone = Math.min(0.25, Math.max(0, (now - this.last) / 1000)), { start, end } = this.data;
        this.last = now;
        let t = this.t + gone * this.speed;
        if (t >= end) {
            t = this.loop && this.t >= end ? start : end; // the last state is always seen
            if (!this.loop) this.pause();
        }
        this.t = t;
        const before = performance.now();
        this.show(this.t);
        this.frames.push([now, performance.now() - before]);
        if (this.frames.length > 600) this.frames.shift();
        if (this.playing) requestAnimationFrame(this.tick);
    }

    play() {
        if (this.playing) return;
        if (this.t >= this.data.end) this.t = this.data.start;
        this.playing = true;
        this.last = performance.now();
        this.changed?.();
        requestAnimationFrame(this.tick);
    }

    pause() {
        this.playing = false;
        this.changed?.();
    }

    toggle() { this.playing ? this.pause() : this.play(); }

    seek(t) {
        this.t = Math.min(this.data.end, Math.max(this.data.start, t));
        this.show(this.t);
    }

    step(rows) {
        this.pause();
        const i = this.data.row(this.t), k = rows < 0 && this.data.t[i] < this.t ? i + rows + 1 : i + rows;
        this.seek(this.data.t[Math.min(this.data.rows - 1, Math.max(0, k))]);
    }

    /** To the next (1) or previous (-1) impact. */
    impact(way) {
        const { data } = this, list = data.impacts, tiny = 1e-12 * (data.end - data.start);
        const k = way > 0 ? data.after(list, this.t + tiny) : data.after(list, this.t - tiny) - 1;
        const time = list[k] === undefined ? (way > 0 ? data.end : data.start) : data.events.t[list[k]];
        this.pause();
        this.seek(time);
    }

    faster(way) {
        let k = speeds.findIndex(s => s >= this.speed * (1 - 1e-9));
        k = Math.min(speeds.length - 1, Math.max(0, k + way));
        this.speed = speeds[k];
        this.changed?.();
        this.show(this.t);
    }
}

export function speedText(s) {
    return s >= 1 ? `${s}×` : `1/${Math.round(1 / s)}×`;
}
