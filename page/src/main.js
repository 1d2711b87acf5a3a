// main.js: the page: stage, plots, tables, and the controls between them.
import { brief, load, withUnit } from './data.js';
import * as colours from './colour.js';
import { Contacts } from './contact.js';
import { deforms } from './deflect.js';
import { film } from './film.js';
import { live } from './live.js';
import { Plane } from './plane.js';
import { Tracks } from './tracks.js';
import { Plots } from './plots.js';
import { Player, speedText } from './player.js';
import * as panels from './panels.js';

const { alpha, hit, theme } = colours;

const icons = {
    play: 'M7 4.5v15l12-7.5z', pause: 'M6.5 5h4v14h-4zM13.5 5h4v14h-4z', next: 'M5 5v14l9-7zM15.5 5h3v14h-3z', back: 'M19 5v14l-9-7zM5.5 5h3v14h-3z',
    loop: 'M17 2l4 4-4 4V7H7a3 3 0 0 0-3 3v2H2v-2a5 5 0 0 1 5-5h10zM7 22l-4-4 4-4v3h10a3 3 0 0 0 3-3v-2h2v2a5 5 0 0 1-5 5H7z',
    moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z', help: 'M11 17h2v2h-2zM12 5a4 4 0 0 0-4 4h2a2 2 0 1 1 3.4 1.4C12 11.7 11 12.6 11 15h2c0-1.6.7-2.2 1.8-3.2A4 4 0 0 0 12 5z',
    fit: 'M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z',
};
const svg = name => `<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path fill="currentColor" d="${icons[name]}"/></svg>`;

const layout = `
<header class="top">
  <div class="name"><h1></h1><p></p></div>
  <nav class="tools">
    <button id="theme" title="toggle dark mode (D)" aria-label="toggle dark mode">${svg('moon')}</button>
    <button id="help" title="keys (?)" aria-label="keys">${svg('help')}</button>
  </nav>
</header>
<main>
  <section class="left">
    <div class="stage">
      <div class="strip"><div class="chips"></div><button id="all" class="more" title="fit view with bodies that left the others (A)" hidden>all</button><button id="fit" title="fit view (F)" aria-label="fit view">${svg('fit')}</button></div>
      <div class="view"></div>
      <div class="legend"><label><input type="checkbox" id="forces" checked> forces</label><label><input type="checkbox" id="names"> names</label><label><input type="checkbox" id="axes"> axes</label>
        <label id="follow-box">follow <select id="follow"></select></label><label id="deflection-box" hidden>deflection <select id="deflection"></select></label></div>
    </div>
    <div class="transport">
      <div class="scrub"><canvas aria-hidden="true"></canvas><input id="time" type="range" min="0" max="100000" step="1" value="0" aria-label="time"></div>
      <div class="buttons">
        <button id="back" title="previous impact (P)" aria-label="previous impact">${svg('back')}</button>
        <button id="play" class="big" title="play or pause (space)" aria-label="play">${svg('play')}</button>
        <button id="next" title="next impact (N)" aria-label="next impact">${svg('next')}</button>
        <button id="loop" class="on" title="repeat (L)" aria-label="repeat" aria-pressed="true">${svg('loop')}</button>
        <output id="clock"></output>
        <span class="speed"><button id="slower" title="slower (↓)" aria-label="slower">−</button><output id="speed"></output><button id="faster" title="faster (↑)" aria-label="faster">+</button></span>
      </div>
    </div>
  </section>
  <section class="right">
    <div class="tabs" role="tablist"></div>
    <div class="tab" id="tab-plots"><div class="plots"></div><p class="bar"><button id="add" class="more">+ plot</button><button id="unzoom" class="more" hidden>whole time</button>
      <span class="note">drag to zoom, click to go there</span></p></div>
    <div class="tab" id="tab-ledger" hidden></div>
    <div class="tab" id="tab-events" hidden></div>
    <div class="tab" id="tab-model" hidden></div>
  </section>
</main>
<dialog id="keys"><h2>Keys</h2><table class="facts"><tbody></tbody></table><form method="dialog"><button class="more">close</button></form></dialog>
<div id="chooser" class="chooser" hidden><input type="search" placeholder="search columns" aria-label="search columns"><div class="list"></div></div>`;

const keys = [['space', 'play or pause'], ['← →', 'previous or next row; Shift: ten rows'], ['P  N', 'previous, next impact'], ['↑ ↓', 'faster, slower'], ['home end', 'start, end'],
              ['L', 'repeat'], ['F', 'fit view'], ['A', 'fit view with bodies that left the others'], ['V', 'toggle forces'], ['T', 'toggle labels'], ['X', 'toggle axes'], ['C', 'follow next body'], ['D', 'toggle dark mode'], ['Z', 'reset plot zoom'], ['?', 'show keys']];

function start() {
    const data = load(document), { page } = data, app = document.createElement('div');
    app.id = 'app';
    app.innerHTML = layout; // our own text; what comes from the result goes through textContent
    document.body.append(app);
    const $ = id => document.getElementById(id), find = s => app.querySelector(s);

    find('h1').textContent = page.title;
    const rows = page.rows < page.of ? `${page.rows} of ${page.of} rows` : `${page.rows} rows`;

    // -- stage --
    const stage = find('.view'), contacts = new Contacts(data), drawn = page.shapes.length > 0;
    let scene = null, flat = !drawn;
    try {
        scene = drawn && (page.dim === 3 ? window.caromSpace(stage, data, contacts, colours) : new Plane(stage, data, contacts));
    } catch (problem) {
        page.notes.push(`3D view unavailable: ${problem.message}`);
        flat = true;
    }
    if (scene?.note) page.notes.push(scene.note);
    if (flat) scene = new Tracks(stage, data);
    if (flat) find('.legend').hidden = $('fit').hidden = true;
    find('.name p').textContent = [page.run.scheme, page.run.step ? `step ${brief(page.run.step)}` : '', `t = ${brief(data.start)} … ${brief(data.end)}`, rows, ...page.notes].filter(Boolean).join('  ·  ');
    const chips = contacts.list.filter(c => !c.bilateral).slice(0, 12).map(c => {
        const chip = document.createElement('span');
        chip.className = 'chip';
        chip.textContent = c.name;
        find('.chips').append(chip);
        return { c, chip, on: false };
    });

    // -- time --
    const second = data.unit('t') && ` ${data.unit('t')}`, clock = $('clock'), slider = $('time'), digits = Math.max(2, Math.min(9, 4 - Math.floor(Math.log10((data.end - data.start) || 1))));
    const shown = t => {
        scene.draw(t, player.speed);
        const [i, f] = data.place(t);
        for (const x of chips) {
            const on = contacts.size(x.c, i, f) > contacts.threshold;
            if (on !== x.on) x.chip.classList.toggle('on', x.on = on);
        }
        clock.textContent = `t = ${t.toFixed(digits)}${second}`;
        if (document.activeElement !== slider || !slider.matches(':active')) slider.value = Math.round(1e5 * (t - data.start) / ((data.end - data.start) || 1));
        find('.scrub').style.setProperty('--done', `${100 * (t - data.start) / ((data.end - data.start) || 1)}%`);
        plots.at(t, player.playing);
    };
    const player = new Player(data, shown);
    const plots = new Plots(find('.plots'), data, t => player.seek(t));
    scene.changed = () => { if (!player.playing) player.show(player.t); };
    player.changed = () => {
        $('play').innerHTML = svg(player.playing ? 'pause' : 'play');
        $('play').setAttribute('aria-label', player.playing ? 'pause' : 'play');
        $('speed').textContent = speedText(player.speed);
        $('loop').classList.toggle('on', player.loop);
        $('loop').setAttribute('aria-pressed', String(player.loop));
    };
    const redraw = () => player.show(player.t);
    const flip = name => {
        scene.options[name] = !scene.options[name];
        $(name).checked = scene.options[name];
        redraw();
    };
    const fit = () => { scene.fit(); redraw(); };
    const fitAll = () => { scene.fit(true); redraw(); };
    $('all').hidden = flat || !scene.all;
    $('all').onclick = fitAll;
    const whole = () => plots.zoom(data.start, data.end);
    slider.addEventListener('input', () => { player.pause(); player.seek(data.start + slider.value / 1e5 * (data.end - data.start)); });
    $('play').onclick = () => player.toggle();
    $('next').onclick = () => player.impact(1);
    $('back').onclick = () => player.impact(-1);
    $('slower').onclick = () => player.faster(-1);
    $('faster').onclick = () => player.faster(1);
    $('loop').onclick = () => { player.loop = !player.loop; player.changed(); };
    $('forces').onchange = () => flip('forces');
    $('names').onchange = () => flip('names');
    $('axes').onchange = () => flip('axes');

    // -- a view that moves along, and deflections one can see --
    const option = (value, text) => Object.assign(document.createElement('option'), { value, textContent: text });
    const shapes = flat ? [] : scene.shapes, seen = new Set(), named = [];
    for (let i = 0; i < shapes.length && named.length < 200; ++i) { // bodies that move, each once
        const s = shapes[i], first = s.at + s.sizes;
        if (s.figure === 'wall' || seen.has(s.name) || !Array.from({ length: s.points * page.dim }).some((_, k) => !data.constant(first + k))) continue;
        seen.add(s.name);
        named.push({ s, i });
    }
    $('follow').append(option(-1, 'nothing'), ...named.map(({ s, i }) => option(i, s.name)));
    $('follow-box').hidden = named.length === 0;
    $('follow').onchange = () => { scene.follow = +$('follow').value; redraw(); };
    const chase = () => { $('follow').selectedIndex = ($('follow').selectedIndex + 1) % $('follow').options.length; $('follow').onchange(); };
    $('deflection').append(...[1, 2, 5, 10, 20, 50, 100, 1000].map(x => option(x, `× ${x}`)));
    $('deflection-box').hidden = !shapes.some(s => deforms(s, data.rows));
    $('deflection').onchange = () => { scene.deflection = +$('deflection').value; redraw(); };
    $('fit').onclick = fit;
    $('unzoom').onclick = whole;
    plots.zoomed = on => { $('unzoom').hidden = !on; };

    // -- impacts on the scrub bar --
    const band = find('.scrub canvas');
    const ticks = () => {
        const w = band.clientWidth, h = band.clientHeight, ratio = Math.min(window.devicePixelRatio || 1, 2), x = band.getContext('2d');
        band.width = w * ratio;
        band.height = h * ratio;
        x.scale(ratio, ratio);
        x.fillStyle = alpha(hit(), 0.6);
        let last = -9;
        for (const e of data.impacts) {
            const p = 8 + (data.events.t[e] - data.start) / ((data.end - data.start) || 1) * (w - 16);
            if (p - last < 1) continue;
            x.fillRect(p - 0.5, 0, 1, h);
            last = p;
        }
    };

    // -- light and dark --
    const style = () => {
        document.documentElement.dataset.theme = theme.dark ? 'dark' : 'light';
        scene.restyle?.();
        plots.restyle();
        ticks();
        redraw();
    };
    const paint = () => { theme.dark = !theme.dark; style(); };
    $('theme').onclick = paint;

    // -- tabs --
    const tabs = [['plots', 'Plots'], ['ledger', 'Ledger'], ['events', `Events`], ['model', 'Model']];
    const choose = name => {
        for (const [n] of tabs) {
            $(`tab-${n}`).hidden = n !== name;
            const b = find(`.tabs [data-tab=${n}]`);
            b.setAttribute('aria-selected', String(n === name));
        }
        if (name === 'plots') plots.resize();
    };
    for (const [name, text] of tabs) {
        const b = document.createElement('button');
        b.dataset.tab = name;
        b.setAttribute('role', 'tab');
        b.textContent = text;
        const impacts = page.ledger?.impacts ?? data.impacts.length; // the page may hold the largest events only
        if (name === 'events' && impacts) {
            const count = document.createElement('span');
            count.className = 'count';
            count.textContent = `${impacts} impact${impacts === 1 ? '' : 's'}`;
            if (impacts !== data.impacts.length) count.title = `${impacts} impacts in the run; the ${data.impacts.length} largest are listed`;
            b.append(' ', count);
        }
        b.onclick = () => choose(name);
        find('.tabs').append(b);
    }
    panels.ledger($('tab-ledger'), page.ledger, page.run, data);
    panels.events($('tab-events'), data, t => { player.pause(); player.seek(t); });
    panels.model($('tab-model'), page);

    // -- columns of a plot --
    const chooser = $('chooser'), search = chooser.querySelector('input'), list = chooser.querySelector('.list');
    let target = null;
    const fill = () => {
        const words = search.value.toLowerCase().split(/\s+/);
        list.replaceChildren();
        for (const name of data.columns.slice(1).filter(c => words.every(w => c.toLowerCase().includes(w))).slice(0, 300)) {
            const label = document.createElement('label'), box = document.createElement('input');
            box.type = 'checkbox';
            box.checked = target.names.includes(name);
            box.onchange = () => target.set(box.checked ? [...target.names, name] : target.names.filter(n => n !== name));
            label.append(box, ` ${withUnit(name, data.unit(name))}`);
            list.append(label);
        }
    };
    plots.choose = (panel, near) => {
        target = panel;
        search.value = '';
        fill();
        chooser.hidden = false;
        const r = near.getBoundingClientRect();
        chooser.style.top = `${Math.min(r.bottom + 4, window.innerHeight - chooser.offsetHeight - 8)}px`;
        chooser.style.left = `${Math.max(8, Math.min(r.right - chooser.offsetWidth, window.innerWidth - chooser.offsetWidth - 8))}px`;
        search.focus();
    };
    search.addEventListener('input', fill);
    document.addEventListener('pointerdown', e => { if (!chooser.hidden && !chooser.contains(e.target)) chooser.hidden = true; });
    $('add').onclick = () => {
        const panel = plots.add('', []);
        panel.element.scrollIntoView({ block: 'nearest' });
        plots.choose(panel, panel.head.querySelector('.more'));
    };

    // -- keys --
    for (const [key, text] of keys) {
        const row = find('#keys tbody').insertRow();
        row.insertCell().innerHTML = `<kbd>${key}</kbd>`;
        row.insertCell().textContent = text;
    }
    $('help').onclick = () => $('keys').showModal();
    const actions = {
        ' ': () => player.toggle(), ArrowRight: e => player.step(e.shiftKey ? 10 : 1), ArrowLeft: e => player.step(e.shiftKey ? -10 : -1),
        ArrowUp: () => player.faster(1), ArrowDown: () => player.faster(-1), Home: () => player.seek(data.start), End: () => player.seek(data.end),
        n: () => player.impact(1), p: () => player.impact(-1), l: $('loop').onclick, f: fit, a: () => flat || fitAll(), v: () => flat || flip('forces'), t: () => flat || flip('names'), x: () => flat || flip('axes'), c: () => flat || chase(),
        d: paint, z: whole, '?': () => $('keys').showModal(),
    };
    document.addEventListener('keydown', e => {
        if (e.key === 'Escape') chooser.hidden = true;
        if (e.ctrlKey || e.metaKey || e.altKey || $('keys').open || e.target.matches('input[type=search], select')) return;
        const act = actions[e.key.length === 1 ? e.key.toLowerCase() : e.key];
        if (!act) return;
        e.preventDefault();
        act(e);
        if (e.key === ' ' && e.target.blur) e.target.blur(); // the space bar must not press a button as well
    });

    theme.dark = window.matchMedia('(prefers-color-scheme: dark)').matches;
    new ResizeObserver(() => { ticks(); redraw(); }).observe(stage);
    player.changed();
    choose('plots');
    style();
    if (film(app, scene, digits)) return;
    const asked = /[#&]t=([-+.\de]+)/i.exec(location.hash);
    if (asked) player.seek(+asked[1]);
    else if (!window.matchMedia('(prefers-reduced-motion: reduce)').matches) player.play();
    live(page.live, player, data, scene, { tab: () => tabs.find(([n]) => !$(`tab-${n}`).hidden)[0], choose });
    window.carom = { data, player, plots, scene, ready: performance.now() };
}

start();
