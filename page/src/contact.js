// contact.js: what contacts do at a time: forces as vectors, impacts with their age.  Shared by plane and space.
import { between } from './data.js';

// Force of every row: as recorded, or, where there is none and no impact falls between two rows, the mean of the impulse
// (a contact that has not lasted for three steps yet).
function forces(data, name, part, hits) {
    const force = data.has(`${name}.${part}`) ? data.column(`${name}.${part}`) : null;
    const tail = part === 'force' ? 'impulse' : part.replace('friction', 'friction_impulse');
    const impulse = data.has(`${name}.${tail}`) ? data.column(`${name}.${tail}`) : null;
    const f = force ? Float64Array.from(force) : new Float64Array(data.rows);
    for (let i = 1; impulse && i < data.rows; ++i) {
        const span = data.t[i] - data.t[i - 1];
        if (f[i] === 0 && impulse[i] !== 0 && span > 0 && !hits[i]) f[i] = impulse[i] / span;
    }
    return f;
}

export class Contacts {
    constructor(data) {
        const { page } = data, dim = page.dim;
        this.data = data;
        // of an outline, features that never touch are left out
        this.list = page.shapes.filter(s => s.figure === 'contact').map(s => this.prepare(data, s, dim)).filter(c => !c.idle);
        this.dim = dim;
        const sizes = [];
        for (const c of this.list) for (let i = 0; i < data.rows; ++i) if (c.size[i] > 0) sizes.push(c.size[i]);
        sizes.sort((a, b) => a - b);
        this.typical = sizes.length ? sizes[Math.floor(0.95 * (sizes.length - 1))] : 1;
        this.threshold = 1e-9 * (sizes.length ? sizes[sizes.length - 1] : 1);
        this.largest = Math.max(0, ...data.impacts.slice(0, 100000).map(e => Math.abs(data.events.impulse[e])));
        this.byEvent = page.events.contacts.map(name => this.list.find(c => c.name === name));
    }

    prepare(data, s, dim) {
        const number = data.page.events.contacts.indexOf(s.name), hits = new Uint8Array(data.rows);
        for (const e of data.impacts) {
            if (data.events.contact[e] !== number) continue;
            const i = data.row(data.events.t[e] * (1 - 1e-12));
            hits[i] = 1;
            if (i + 1 < data.rows) hits[i + 1] = 1;
        }
        const first = s.at + s.sizes, directions = s.points - 1;
        const vector = k => Array.from({ length: dim }, (_, j) => data.channel(first + k * dim + j));
        const parts = ['force', ...(directions > 2 ? ['friction1', 'friction2'] : ['friction'])].slice(0, directions);
        const f = parts.map(p => forces(data, s.name, p, hits));
        const size = new Float64Array(data.rows);
        for (let i = 0; i < data.rows; ++i) size[i] = Math.hypot(...f.map(x => x[i]));
        const idle = /\.\d+$/.test(s.name) && number < 0 && !size.some(x => x > 0);
        return { name: s.name, idle, colour: s.colour, place: vector(0), directions: f.map((_, k) => vector(k + 1)), f, size,
                 bilateral: !data.has(`${s.name}.gap'`) };
    }

    point(c, i, s) { return c.place.map(x => between(x, i, s)); }

    direction(c, k, i, s) { return c.directions[k].map(x => between(x, i, s)); }

    /** The force at (row, fraction) as a vector. */
    force(c, i, s) {
        const f = new Array(this.dim).fill(0);
        c.f.forEach((x, k) => {
            const d = this.direction(c, k, i, s), size = between(x, i, s);
            for (let j = 0; j < this.dim; ++j) f[j] += size * d[j];
        });
        return f;
    }

    size(c, i, s) { return between(c.size, i, s); }

    /** Impacts whose flash is not over at time t: contact, age 0..1, strength 0..1. */
    flashes(t, speed, seconds = 0.5) {
        const { data } = this, span = seconds * speed, out = [];
        for (let k = data.after(data.impacts, t) - 1; k >= 0 && out.length < 64; --k) {
            const e = data.impacts[k], age = (t - data.events.t[e]) / span;
            if (!(age < 1)) break;
            const contact = this.byEvent[data.events.contact[e]];
            const strength = this.largest > 0 ? Math.sqrt(Math.abs(data.events.impulse[e]) / this.largest) : 1;
            if (contact) out.push({ contact, age, strength, time: data.events.t[e], impulse: data.events.impulse[e] });
        }
        return out;
    }
}
