// play.js: carom in the browser: a model to edit, schemes and parameters to choose, what comes of it beside them.
import { Engine, compile } from './engine.js';
import { Editor } from './editor.js';
import { pack, unpack } from './link.js';
import { withUnit } from './data.js';

const shipped = JSON.parse(document.getElementById('carom-play').textContent), part = id => document.getElementById(id).textContent;
const el = id => document.getElementById(id);

document.body.innerHTML += `
<div id="app">
  <header><h1>carom</h1>
    <label>model <select id="gallery"></select></label>
    <span class="grow"></span>
    <button id="share" title="copy a link to this model">share</button>
    <button id="save" title="the model as a file">save</button>
  </header>
  <main>
    <section class="write">
      <div id="editor"></div>
      <p id="message" role="status"></p>
      <div id="parameters" hidden><h2>parameters</h2><div id="sliders"></div></div>
    </section>
    <div id="split" role="separator" aria-orientation="vertical" aria-label="width of the text" tabindex="0"></div>
    <section class="watch">
      <div class="bar">
        <label>scheme <select id="scheme"></select></label>
        <label>compare with <select id="other"></select></label>
        <label>step <input id="step" size="8" title="a time, like 2 ms"></label>
        <label>end <input id="end" size="6" title="a time, like 0.5 s"></label>
        <button id="run" class="main" title="Ctrl+Enter">run</button>
        <progress id="progress" max="1" value="0" hidden></progress>
      </div>
      <div id="results"><p class="hint">The engine is being started.</p></div>
    </section>
  </main>
</div>`;

const module = await compile(document);
const checker = new Engine(document, module), engines = [new Engine(document, module), new Engine(document, module)];
let changed = false, timer = 0, facts = null, values = {}, known = []; // values: of sliders that were moved, in the units of the text; known: schemes
const editor = new Editor(el('editor'), JSON.parse(part('carom-schema')), () => { changed = true; later(check, 250); },
                          key => key === 'scheme' ? known.map(s => [s.name, s.about]) : null);

const later = (f, ms) => { clearTimeout(timer); timer = setTimeout(f, ms); };

/** "model:3:7: what is wrong" -> place and sentence. */
function placed(sentence) {
    const m = /^model:(\d+):(?:(\d+):)? ?(.*)$/s.exec(sentence);
    return m ? { line: +m[1], column: +(m[2] || 1), text: m[3] } : { text: sentence };
}

function say(sentences, bad) {
    const at = sentences.map(placed);
    editor.mark(bad ? at.filter(x => x.line) : []);
    el('message').textContent = at.map(x => (x.line ? `line ${x.line}: ${x.text}` : x.text)).join('\n');
    el('message').classList.toggle('bad', bad);
}

async function check() {
    const answer = await checker.call(['check'], editor.text);
    if (!answer) return;
    if (answer.code !== 0) { say(answer.wrong, true); return; }
    facts = JSON.parse(answer.out);
    say([], false);
    for (const k of ['step', 'end']) el(k).placeholder = facts[k] ? written(k, facts[k])?.text ?? (facts.parameters.some(p => p.unit) ? `${facts[k]} s` : String(facts[k])) : '';
    const own = el('scheme').options[0];
    const here = !facts.scheme || [...el('other').options].some(o => o.value === facts.scheme);
    own.textContent = !facts.scheme ? 'auto (the default)' : here ? `${facts.scheme} (the model's)` : `mixed (${facts.scheme} needs the program)`;
    own.dataset.instead = here ? '' : 'mixed';
    sliders();
}

// -- parameters --------------------------------------------------------------------------------------------------

/** How the text writes a number, "k: 3 kN/m", that the engine knows as x of its own unit: the number, its unit, and what one of them is for the engine; null: it is computed. */
function written(name, x) {
    const exact = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    for (const [, number, unit] of editor.text.matchAll(new RegExp(`(?:^|[{,\\s])${exact}: +([-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?)(?: +([A-Za-zµ%°][^,}#\\n]*?))?(?=\\s*(?:[,}#\\n]|$))`, 'g'))) {
        if (!unit && Math.abs(+number - x) > 1e-12 * Math.abs(x)) continue; // another of this name
        return { number: +number, unit: unit?.trim() ?? '', text: unit ? `${number} ${unit.trim()}` : number };
    }
    return null;
}

const own = p => written(p.name, p.value) ?? { number: p.value, unit: p.unit ?? '' };

function sliders() {
    const list = facts.parameters.map(p => ({ name: p.name, ...own(p) })), names = list.map(p => `${p.name} ${p.unit}`).join('\n');
    for (const name of Object.keys(values)) if (!list.some(p => p.name === name)) delete values[name];
    el('parameters').hidden = !list.length;
    if (el('sliders').dataset.names === names) {
        for (const p of list) if (!(p.name in values)) put(p.name, p.number, true);
        return;
    }
    el('sliders').dataset.names = names;
    el('sliders').classList.toggle('units', list.some(p => p.unit && p.unit !== '1'));
    el('sliders').replaceChildren(...list.map(slider));
}

// Six digits, short.
const digits = x => { const a = Math.abs(x), y = +x.toPrecision(6); return a > 0 && (a < 1e-3 || a >= 1e6) ? y.toExponential().replace('e+', 'e') : String(y); };

function put(name, x, renew) {
    const row = [...el('sliders').children].find(r => r.dataset.name === name);
    if (!row) return;
    const [, range, number] = row.children;
    if (renew) [range.min, range.max] = x === 0 ? [-1, 1] : x > 0 ? [0, 2 * x] : [2 * x, 0];
    range.step = (range.max - range.min) / 200;
    range.value = x;
    number.value = digits(x);
    row.classList.toggle('moved', name in values);
}

function slider(p) {
    const row = document.createElement('div');
    row.className = 'slider';
    row.dataset.name = p.name;
    row.dataset.unit = p.unit;
    row.innerHTML = '<button></button><input type="range"><input class="number" inputmode="decimal"><span></span>';
    const [name, range, number, unit] = row.children, label = withUnit(p.name, p.unit), x = p.name in values ? values[p.name] : p.number;
    name.textContent = p.name;
    unit.textContent = p.unit === '1' ? '' : p.unit;
    range.setAttribute('aria-label', label);
    number.setAttribute('aria-label', `${label}, as a number`);
    [range.min, range.max] = p.number === 0 ? [-1, 1] : p.number > 0 ? [0, 2 * p.number] : [2 * p.number, 0];
    range.step = (range.max - range.min) / 200;
    range.value = x;
    number.value = digits(x);
    row.classList.toggle('moved', p.name in values);
    const move = v => { if (!Number.isFinite(v)) return; values[p.name] = v; put(p.name, v, false); later(run, 200); };
    range.oninput = () => move(+range.value);
    number.onchange = () => move(+number.value);
    name.title = 'reset to the value in the model';
    name.onclick = () => { delete values[p.name]; put(p.name, own(facts.parameters.find(q => q.name === p.name)).number, true); later(run, 200); };
    return row;
}

// -- runs --------------------------------------------------------------------------------------------------------

const chosen = scheme => scheme || el('scheme').options[0].dataset.instead;
const unitOf = name => { const unit = facts && own(facts.parameters.find(p => p.name === name) ?? { name }).unit; return unit && unit !== '1' ? unit : ''; };
const settings = scheme => [
    ...(scheme ? [`scheme=${scheme}`] : []), ...['step', 'end'].filter(k => el(k).value.trim()).map(k => `${k}=${el(k).value.trim()}`),
    ...Object.entries(values).map(([name, x]) => `set:${name}=${x}${unitOf(name) ? ` ${unitOf(name)}` : ''}`),
];

function show(i, count, title, answer) {
    const box = el('results');
    if (i === 0) box.replaceChildren();
    const frame = document.createElement('figure'), caption = document.createElement('figcaption');
    caption.textContent = answer.wrong.length ? `${title}: ${answer.wrong.map(w => placed(w).text).join(' ')}` : title;
    caption.classList.toggle('bad', answer.code !== 0);
    caption.hidden = count === 1 && !answer.wrong.length; // the page says it
    frame.append(caption);
    if (answer.out.startsWith('<!doctype')) {
        const page = document.createElement('iframe');
        page.title = title;
        page.srcdoc = answer.out.replace('/*carom page.css*/', () => part('carom-page-css')).replace('/*carom space.js*/', () => part('carom-space-js'))
            .replace('/*carom page.js*/', () => part('carom-page-js'));
        frame.append(page);
    }
    box.append(frame);
    box.classList.toggle('two', count === 2);
}

// Of two pages the second shows the time of the first.
function together() {
    const [a, b] = [...document.querySelectorAll('#results iframe')].map(f => f.contentWindow?.carom?.player);
    if (a && b) {
        b.pause();
        if (b.t !== a.t) b.seek(a.t);
    }
    requestAnimationFrame(together);
}

let runs = 0;

async function run() {
    const mine = ++runs, wanted = [chosen(el('scheme').value)], began = performance.now();
    if (el('other').value !== '-') wanted.push(el('other').value);
    el('run').textContent = 'stop';
    el('progress').hidden = false;
    el('progress').value = 0;
    const reached = wanted.map(() => 0);
    engines.forEach(e => e.stop());
    const answers = await Promise.all(wanted.map((scheme, i) =>
        engines[i].call(['run', ...settings(scheme)], editor.text, x => { reached[i] = x; if (mine === runs) el('progress').value = Math.min(...reached); })));
    if (mine !== runs) return;
    el('run').textContent = 'run';
    el('progress').hidden = true;
    if (answers.some(a => !a)) return;
    if (answers[0].code === 2 && !answers[0].out) { say(answers[0].wrong, true); return; }
    say([`${((performance.now() - began) / 1000).toFixed(2)} s`], false);
    answers.forEach((a, i) => show(i, answers.length, wanted[i] || /"scheme":"([^"]*)"/.exec(a.out)?.[1] || 'the default scheme', a));
    window.caromPlay.done = mine;
}

function stop() {
    ++runs;
    engines.forEach(e => e.stop());
    el('run').textContent = 'run';
    el('progress').hidden = true;
    say(['stopped'], false);
}

// -- what is open ------------------------------------------------------------------------------------------------

function open(text) {
    editor.text = text;
    values = {};
    el('step').value = el('end').value = '';
    el('scheme').value = '';
    el('other').value = '-';
    changed = false;
}

const option = (value, text, title = '') => Object.assign(document.createElement('option'), { value, textContent: text, title });

async function schemes() {
    let answer = null;
    while (!answer) answer = await checker.call(['schemes'], ''); // a check of changed text may cut in
    known = JSON.parse(answer.out);
    for (const k of ['scheme', 'other']) el(k).append(...known.map(s => option(s.name, s.name, s.about)));
}

async function begin() {
    el('scheme').append(option('', 'auto (the default)'));
    el('other').append(option('-', 'nothing'));
    el('gallery').append(...(shipped.own ? [option('-1', shipped.own.name)] : []), ...shipped.models.map((m, i) => option(i, m.name, m.about)));
    el('gallery').onchange = async () => {
        if (changed && !confirm('Discard your changes?')) return;
        open(+el('gallery').value < 0 ? shipped.own.text : shipped.models[+el('gallery').value].text);
        history.replaceState(null, '', location.pathname + location.search);
        await check();
        run();
    };
    const held = await unpack(location.hash), broken = !held && location.hash.startsWith('#m=');
    open(held?.text ?? shipped.own?.text ?? shipped.models.find(m => m.name === shipped.first)?.text ?? shipped.models[0].text);
    if (!held && !shipped.own) { // the engine has the scheme of the gallery's first model: its run need not wait for the rest
        el('gallery').value = String(shipped.models.findIndex(m => m.name === shipped.first));
        await run();
    }
    await schemes();
    if (held) {
        values = held.values;
        for (const k of ['scheme', 'other', 'step', 'end']) if (held[k]) el(k).value = held[k];
    }
    const said = el('message').textContent;
    await check();
    if (held || shipped.own) await run();
    else if (!el('message').textContent) say([said], false);
    if (broken) say([`This link is damaged; showing ${shipped.own?.name ?? shipped.first}.`], true);
}

// The line between text and picture can be moved.
{
    const line = el('split'), share = x => document.querySelector('main').style.setProperty('--text', `${Math.min(75, Math.max(20, x)).toFixed(1)}%`);
    const now = () => 100 * el('editor').offsetWidth / document.querySelector('main').clientWidth;
    line.onpointerdown = e => { line.setPointerCapture(e.pointerId); document.body.classList.add('dragging'); };
    line.onpointermove = e => { if (line.hasPointerCapture(e.pointerId)) share(100 * (e.clientX - document.querySelector('main').getBoundingClientRect().left - 16) / document.querySelector('main').clientWidth); };
    line.onpointerup = line.onpointercancel = () => document.body.classList.remove('dragging');
    line.onkeydown = e => { if (e.key === 'ArrowLeft' || e.key === 'ArrowRight') share(now() + (e.key === 'ArrowLeft' ? -2 : 2)); };
}

el('run').onclick = () => (el('run').textContent === 'stop' ? stop() : run());
for (const k of ['scheme', 'other', 'step', 'end']) el(k).onchange = () => run();
document.addEventListener('keydown', e => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); run(); } });
el('share').onclick = async () => {
    const state = { text: editor.text, values };
    for (const k of ['scheme', 'other', 'step', 'end']) if (el(k).value && el(k).value !== '-') state[k] = el(k).value;
    location.hash = await pack(state);
    try { await navigator.clipboard.writeText(location.href); say(['Link copied to the clipboard (and in the address bar).'], false); } catch { say(['The link is in the address bar.'], false); }
};
el('save').onclick = () => {
    const a = Object.assign(document.createElement('a'), { href: URL.createObjectURL(new Blob([editor.text], { type: 'text/yaml' })), download: 'model.yaml' });
    a.click();
    URL.revokeObjectURL(a.href);
};

window.caromPlay = { editor, run, check, done: 0 };
await begin();
together();
