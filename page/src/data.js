// data.js: what carom wrote into the page: JSON with names, and one block of numbers.
//
// The block holds, little-endian: row times and event times (float64), of every coarse channel offset and scale (float64), stored channels (float32, an offset to be
// added), then per event impulse, velocity before and after (float32), contact and kind (uint32), and the coarse channels of a world (uint16: offset + scale times
// that; 65535: no number).  A channel is a column of the result or a number of the drawing, one value per row; constant ones are not stored.

function bytesOf(text) {
    const binary = atob(text), n = binary.length, bytes = new Uint8Array(n);
    for (let i = 0; i < n; ++i) bytes[i] = binary.charCodeAt(i);
    return bytes.buffer;
}

export function load(document) {
    const page = JSON.parse(document.getElementById('carom-page').textContent);
    const block = bytesOf(document.getElementById('carom-data').textContent.trim());
    const rows = page.rows, n = page.events.count;
    let at = 0;
    const f64 = count => { const a = new Float64Array(block, at, count); at += 8 * count; return a; };
    const f32 = count => { const a = new Float32Array(block, at, count); at += 4 * count; return a; };
    const u32 = count => { const a = new Uint32Array(block, at, count); at += 4 * count; return a; };
    const t = f64(rows), eventTime = f64(n), scales = f64(2 * (page.coarse || 0));
    const stored = Array.from({ length: page.stored || 0 }, () => f32(rows));
    const events = { t: eventTime, impulse: f32(n), before: f32(n), after: f32(n), contact: u32(n), kind: u32(n), count: n };
    const coarse = new Uint16Array(block, at, rows * (page.coarse || 0));
    return new Data(page, t, stored, events, { scales, coarse });
}

export class Data {
    constructor(page, t, stored, events, world) {
        Object.assign(this, { page, t, stored, events, world, rows: t.length });
        this.start = t[0];
        this.end = t[t.length - 1];
        this.columns = page.columns;
        const kinetic = page.columns.indexOf('kinetic');
        this.positions = page.columns.slice(1, 1 + (page.positions || (kinetic > 0 ? (kinetic - 1) >> 1 : 0)));
        this.cache = new Map();
        this.index = new Map(page.columns.map((name, i) => [name, i]));
        this.lengthUnit = this.positions.some(c => this.unit(c) === 'm') ? 'm' : ''; // of the drawing
        const impact = page.events.kinds.indexOf('impact');
        this.impacts = [];
        for (let i = 0; i < events.count; ++i) if (events.kind[i] === impact) this.impacts.push(i);
    }

    /** Of a column, where the model gives units: "m/s"; else "". */
    unit(name) { return this.page.units?.[this.index.get(name)] ?? ''; }

    has(name) { return this.index.has(name); }
    column(name) { return this.channel(this.index.get(name)); }

    /** All rows of a channel, in double precision. */
    channel(i) {
        let x = this.cache.get(i);
        if (x) return x;
        if (i === 0) x = this.t;
        else this.spread(i, x = new Float64Array(this.rows), 0, 1);
        this.cache.set(i, x);
        return x;
    }

    /** All rows of a channel to x[at], x[at + step], ... */
    spread(i, x, at, step) {
        const c = this.page.channels[i], { rows } = this;
        if (!Array.isArray(c)) {
            for (let k = 0; k < rows; ++k) x[at + k * step] = c === null ? NaN : c;
        } else if (this.page.coarse) {
            const { scales, coarse } = this.world, offset = scales[2 * c[0]], scale = scales[2 * c[0] + 1];
            for (let k = 0, from = rows * c[0]; k < rows; ++k) x[at + k * step] = coarse[from + k] === 65535 ? NaN : offset + scale * coarse[from + k];
        } else {
            const from = this.stored[c[0]];
            for (let k = 0; k < rows; ++k) x[at + k * step] = from[k] + c[1];
        }
    }

    /** A channel at a row. */
    value(i, k) {
        const c = this.page.channels[i];
        if (i === 0 || !Array.isArray(c)) return i === 0 ? this.t[k] : c === null ? NaN : c;
        if (!this.page.coarse) return this.stored[c[0]][k] + c[1];
        const u = this.world.coarse[this.rows * c[0] + k];
        return u === 65535 ? NaN : this.world.scales[2 * c[0]] + this.world.scales[2 * c[0] + 1] * u;
    }

    constant(i) { return i !== 0 && !Array.isArray(this.page.channels[i]); }

    /** The last row at or before time t. */
    row(t) {
        const x = this.t;
        let low = 0, high = x.length - 1;
        while (low < high) {
            const mid = (low + high + 1) >> 1;
            if (x[mid] <= t) low = mid; else high = mid - 1;
        }
        return low;
    }

    /** Row and fraction of the way to the next one. */
    place(t) {
        const i = this.row(t);
        if (i + 1 >= this.rows) return [i, 0];
        const span = this.t[i + 1] - this.t[i];
        return [i, span > 0 ? Math.min(1, Math.max(0, (t - this.t[i]) / span)) : 0];
    }

    /** Index in list (of event numbers) of the first event after t. */
    after(list, t) {
        let low = 0, high = list.length;
        while (low < high) {
            const mid = (low + high) >> 1;
            if (this.events.t[list[mid]] > t) high = mid; else low = mid + 1;
        }
        return low;
    }
}

/** The value between two rows of a channel. */
export function between(x, i, s) {
    return s > 0 && i + 1 < x.length ? x[i] + s * (x[i + 1] - x[i]) : x[i];
}

export function range(x) {
    let low = Infinity, high = -Infinity;
    for (let i = 0; i < x.length; ++i) {
        if (x[i] < low) low = x[i];
        if (x[i] > high) high = x[i];
    }
    return [low, high];
}

/** A number without digits that say nothing. */
export function brief(x) {
    return String(+x.toPrecision(9)).replace('-', '−').replace('e-', 'e−');
}

/** "x" -> "x (m)". */
export const withUnit = (text, unit) => (unit && unit !== '1' ? `${text} (${unit})`.trim() : text);

/** A number for people: five significant digits. */
export function show(x) {
    if (!Number.isFinite(x)) return Number.isNaN(x) ? '–' : x > 0 ? '∞' : '−∞';
    if (x === 0) return '0';
    const a = Math.abs(x), text = a >= 1e6 || a < 1e-4 ? x.toExponential(3) : x.toPrecision(5);
    return text.replace('-', '−').replace(/e([+−-])/, (_, s) => 'e' + (s === '+' ? '' : '−'));
}
