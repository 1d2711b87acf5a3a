// plots.js: panels of curves over time.  Zoom and hover are shared; the time of the player is a line through all of them.
import uPlot from 'uplot';
import { range, show, withUnit } from './data.js';
import { alpha, faint, hit, muted, nth } from './colour.js';

const HEIGHT = 168;
const impulsive = name => /\.(friction_)?impulse[12]?$/.test(name);

// Upright lines instead of a curve.
function stems(u, k, first, last) {
    const stroke = new Path2D(), zero = u.valToPos(0, 'y', true);
    for (let i = first; i <= last; ++i) {
        const y = u.data[k][i];
        if (!y) continue;
        const x = u.valToPos(u.data[0][i], 'x', true);
        stroke.moveTo(x, zero);
        stroke.lineTo(x, u.valToPos(y, 'y', true));
    }
    return { stroke, fill: null, clip: null, band: null, gaps: null, flags: 2 };
}

/** Groups of columns that are shown at first, as `carom plot` does. */
export function usual(data) {
    const names = data.columns, turn = /\.q[wxyz]$/, positions = data.positions.filter(c => !turn.test(c)), groups = [];
    const spread = name => { const [a, b] = range(data.column(name)); return b > a ? b - a : 0; };
    const moving = name => { const [a, b] = range(data.column(name)); return b - a > 1e-12 * Math.max(Math.abs(a), Math.abs(b)); };
    const most = Math.max(0, ...positions.map(spread));
    const add = (title, list) => { if (list.length) groups.push({ title, names: list.slice(0, 8) }); };
    add('position', positions.filter(p => spread(p) >= most / 30));
    add('small position', positions.filter(p => spread(p) < most / 30 && spread(p) > 1e-9 * most));
    add('state', (data.page.states ?? []).filter(c => data.has(c) && moving(c)));
    const contact = c => names.includes(`${c.slice(0, c.lastIndexOf('.'))}.gap'`);
    add('gap', names.filter(c => c.endsWith('.gap') && contact(c)));
    add('force', names.filter(c => c.endsWith('.force') && moving(c)));
    add('impulse', names.filter(c => c.endsWith('.impulse') && moving(c)));
    add('friction', names.filter(c => /\.friction[12]?$/.test(c) && moving(c)));
    add('energy', ['kinetic', 'potential', 'energy'].filter(c => data.has(c) && moving(c)));
    add('orientation', data.positions.filter(c => turn.test(c)));
    if (!groups.length) add('', names.slice(1, 5));
    return groups;
}

export class Plots {
    constructor(holder, data, seek) {
        Object.assign(this, { holder, data, seek, panels: [], time: data.start, window: [data.start, data.end] });
        this.sync = uPlot.sync('carom');
        for (const g of usual(data)) this.add(g.title, g.names);
        new ResizeObserver(() => this.resize()).observe(holder);
    }

    add(title, names) {
        const panel = new Panel(this, title, names);
        this.panels.push(panel);
        return panel;
    }

    remove(panel) {
        this.panels = this.panels.filter(p => p !== panel);
        panel.element.remove();
        panel.destroy();
    }

    resize() {
        const w = this.holder.clientWidth;
        if (w < 50 || w === this.width) return;
        this.width = w;
        for (const p of this.panels) p.plot?.setSize({ width: p.chart.clientWidth, height: HEIGHT });
        this.at(this.time);
    }

    /** The stretch of time that all panels show. */
    zoom(from, to, origin) {
        const { start, end } = this.data, least = 1e-9 * (end - start);
        from = Math.max(start, from);
        to = Math.min(end, to);
        if (!(to - from > least)) return;
        this.window = [from, to];
        for (const p of this.panels) if (p !== origin) p.show(from, to);
        this.at(this.time);
        this.zoomed?.(from > start || to < end);
    }

    /** Values are told ten times a second while it plays: nobody reads faster, and text costs layout. */
    at(t, playing = false) {
        const now = performance.now(), tell = !playing || now - (this.told || 0) > 100;
        this.time = t;
        if (tell) this.told = now;
        for (const p of this.panels) p.at(t, tell);
    }

    restyle() { for (const p of this.panels) p.make(); }
}

class Panel {
    constructor(plots, title, names) {
        Object.assign(this, { plots, title, names: [...names], hidden: new Set() });
        this.element = document.createElement('section');
        this.element.className = 'panel';
        this.head = document.createElement('header');
        this.chart = document.createElement('div');
        this.chart.className = 'chart';
        this.element.append(this.head, this.chart);
        plots.holder.append(this.element);
        this.make();
    }

    destroy() { this.plot?.destroy(); this.plot = null; }

    set(names) {
        this.names = [...names];
        this.make();
    }

    make() {
        const { plots, names } = this, { data } = plots;
        this.destroy();
        this.legend();
        const axis = { stroke: muted(), grid: { stroke: faint(), width: 1 }, ticks: { stroke: faint(), width: 1, size: 4 }, font: '11px system-ui, sans-serif' };
        const values = (u, splits) => splits.map(v => Math.abs(v) >= 1e5 || (v !== 0 && Math.abs(v) < 1e-3) ? v.toExponential(Math.abs(v) < 1e-99 ? 0 : 1) : String(+v.toPrecision(7)));
        const time = data.unit('t');
        const options = {
            width: Math.max(60, this.chart.clientWidth), height: HEIGHT, padding: [8, 10, 0, 0],
            scales: { x: { time: false, min: plots.window[0], max: plots.window[1] } },
            axes: [{ ...axis, size: 24, values, ...(time ? { label: withUnit('t', time), labelSize: 14, labelFont: axis.font } : {}) }, { ...axis, size: 58, values }],
            series: [{}, ...names.map((name, k) => ({
                stroke: nth(k), dash: this.twin(k) ? [7, 5] : undefined, width: impulsive(name) ? 1.5 : 1.25, points: { show: false }, show: !this.hidden.has(name),
                ...(impulsive(name) ? { paths: stems } : {}),
            }))],
            legend: { show: false },
            cursor: { sync: { key: 'carom' }, drag: { x: true, y: false, dist: 4 }, focus: { prox: -1 }, points: { size: 6 },
                      bind: { dblclick: () => () => { plots.zoom(data.start, data.end); return null; } } },
            hooks: {
                drawAxes: [u => this.marks(u)],
                setCursor: [u => this.hover(u)],
                setSelect: [u => {
                    if (u.select.width > 3) plots.zoom(u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x'));
                    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
                }],
            },
        };
        options.cursor.drag.setScale = false;
        this.plot = new uPlot(options, [data.t, ...names.map(n => data.column(n))], this.chart);
        this.now = document.createElement('div');
        this.now.className = 'now';
        this.plot.over.append(this.now);
        this.mouse(this.plot.over);
        this.at(plots.time);
    }

    // Does curve k lie on an earlier one?  Dashes then let both be seen.
    twin(k) {
        const { data } = this.plots, x = data.column(this.names[k]), [low, high] = range(x);
        return this.names.slice(0, k).some(name => {
            const y = data.column(name);
            for (let i = 0; i < x.length; i += 1 + (x.length >> 9)) if (Math.abs(x[i] - y[i]) > 0.01 * (high - low)) return false;
            return true;
        });
    }

    mouse(over) {
        const { plots } = this;
        over.addEventListener('wheel', e => {
            if (!e.ctrlKey && Math.abs(e.deltaY) < Math.abs(e.deltaX)) return;
            e.preventDefault();
            const [a, b] = plots.window, x = this.plot.posToVal(e.offsetX, 'x'), f = Math.exp(e.deltaY * 0.0015);
            plots.zoom(x - (x - a) * f, x + (b - x) * f);
        }, { passive: false });
        let down = null;
        over.addEventListener('mousedown', e => { down = [e.clientX, e.clientY]; });
        over.addEventListener('click', e => {
            if (down && Math.hypot(e.clientX - down[0], e.clientY - down[1]) < 4) plots.seek(this.plot.posToVal(e.offsetX, 'x'));
        });
    }

    show(from, to) { this.plot.setScale('x', { min: from, max: to }); }

    // Impacts, at most one line per pixel.
    marks(u) {
        const { data } = this.plots, { ctx, bbox } = u, [from, to] = [u.scales.x.min, u.scales.x.max];
        let last = -Infinity;
        ctx.save();
        ctx.strokeStyle = alpha(hit(), 0.2);
        ctx.lineWidth = 1;
        ctx.beginPath();
        for (let k = data.after(data.impacts, from - 1e-300); k < data.impacts.length; ++k) {
            const t = data.events.t[data.impacts[k]];
            if (t > to) break;
            const x = Math.round(u.valToPos(t, 'x', true)) + 0.5;
            if (x - last < 1.5) continue;
            last = x;
            ctx.moveTo(x, bbox.top);
            ctx.lineTo(x, bbox.top + bbox.height);
        }
        ctx.stroke();
        ctx.restore();
    }

    // -- names and values -----------------------------------------------------------------------------------

    legend() {
        const { head, names, plots } = this;
        head.replaceChildren();
        const title = document.createElement('span');
        title.className = 'title';
        const units = names.map(name => plots.data.unit(name)), one = units.every(u => u === units[0]) ? units[0] : ''; // of all curves
        title.textContent = withUnit(this.title, one);
        head.append(title);
        const tail = names.length ? names[0].slice(names[0].lastIndexOf('.') + 1) : '';
        const shared = tail === this.title && names.every(name => name.endsWith(`.${tail}`)) ? tail.length + 1 : 0; // the title says it
        this.values = names.map((name, k) => {
            const item = document.createElement('button');
            item.className = 'curve';
            item.style.setProperty('--tone', nth(k));
            item.classList.toggle('off', this.hidden.has(name));
            const label = document.createElement('span'), value = document.createElement('output');
            label.textContent = withUnit(shared ? name.slice(0, -shared) : name, one ? '' : units[k]);
            item.title = `${withUnit(name, units[k])}: show or hide`;
            item.append(label, value);
            item.onclick = () => {
                this.hidden.has(name) ? this.hidden.delete(name) : this.hidden.add(name);
                item.classList.toggle('off', this.hidden.has(name));
                this.plot.setSeries(k + 1, { show: !this.hidden.has(name) });
            };
            head.append(item);
            return value;
        });
        const more = document.createElement('button');
        more.className = 'more';
        more.textContent = 'columns';
        more.title = 'choose columns';
        more.onclick = () => plots.choose(this, more);
        const close = document.createElement('button');
        close.className = 'more';
        close.textContent = '×';
        close.title = 'remove this plot';
        close.setAttribute('aria-label', 'remove this plot');
        close.onclick = () => plots.remove(this);
        const acts = document.createElement('span');
        acts.className = 'acts';
        acts.append(more, close);
        head.append(acts);
    }

    tell(i) {
        if (this.told === i) return;
        this.told = i;
        this.names.forEach((name, k) => { this.values[k].textContent = show(this.plots.data.column(name)[i]); });
    }

    hover(u) {
        this.hovered = u.cursor.left >= 0 && u.cursor.idx !== null && u.cursor.idx !== undefined;
        this.tell(this.hovered ? u.cursor.idx : this.plots.data.row(this.plots.time));
    }

    at(t, tell = true) {
        if (!this.plot) return;
        const x = this.plot.valToPos(t, 'x'), inside = x >= -1 && x <= this.plot.over.clientWidth + 1;
        this.now.style.display = inside ? '' : 'none';
        if (inside) this.now.style.transform = `translateX(${x}px)`;
        if (tell && !this.hovered) this.tell(this.plots.data.row(t));
    }
}
