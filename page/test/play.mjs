// play.mjs CAROM CHROMIUM FOLDER: the page of `carom play`: its engine gives what the program gives, and it does in a real browser what its controls say.
// SHOTS=FOLDER keeps screenshots.
import { chromium } from 'playwright-core';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { load } from '../src/data.js';
import { pack, unpack } from '../src/link.js';
import { call } from '../src/wasi.js';

const [carom, executablePath, folder] = process.argv.slice(2), here = dirname(fileURLToPath(import.meta.url)), shots = process.env.SHOTS;
mkdirSync(folder, { recursive: true });
if (shots) mkdirSync(shots, { recursive: true });

let failures = 0;
function check(what, good, more = '') {
    console.log(`${good ? 'ok    ' : 'FAILED'} ${what}${more === '' ? '' : `: ${more}`}`);
    if (!good) ++failures;
}

// -- the engine: every shipped model for a short time, against the program ---------------------------------------

const module = await WebAssembly.compile(gunzipSync(readFileSync(join(here, '../dist/carom.wasm.gz'))));
async function engine(file, ...args) {
    const wrong = [], answer = await call(module, args, file ? readFileSync(file, 'utf8') : '', news => { if (news.wrong) wrong.push(news.wrong); });
    return { ...answer, err: wrong.join(' ') };
}
const block = (html, id) => ({ textContent: new RegExp(`id="${id}">\\n([^]*?)\\n?</script>`).exec(html)[1] });
const known = JSON.parse((await engine('', 'schemes')).out).map(s => s.name);
check('the engine knows the schemes', known.length > 15 && known.includes('half-explicit'), known.length);

function program(model, scheme, end, ...more) {
    const csv = join(folder, 'program.csv');
    spawnSync(carom, ['run', model, // checks of the model may fail, since the end is another
                      '--scheme', scheme, '--end', String(end), '--force', '--quiet', '--out', csv, ...more]);
    const rows = readFileSync(csv, 'utf8').trim().split('\n');
    return { columns: rows[0].split(',').map(c => c.replaceAll('"', '')), last: rows.at(-1).split(',').map(Number) };
}

for (const name of readdirSync(join(here, '../../models')).filter(f => f.endsWith('.yaml'))) {
    const model = join(here, '../../models', name), facts = await engine(model, 'check');
    if (facts.code !== 0) { check(`${name}: read`, false, facts.err); continue; }
    const { step, end, scheme } = JSON.parse(facts.out), T = Math.min(end, 40 * step), use = known.includes(scheme) ? scheme : 'mixed';
    const mine = await engine(model, 'run', `scheme=${use}`, `end=${T}`);
    if (mine.code !== 0) { check(`${name}: run`, false, mine.err); continue; }
    const { columns, last } = program(model, use, T);
    const data = load({ getElementById: id => block(mine.out, id) });
    let worst = 0, where = '', others = null;
    for (const c of data.columns) {
        const i = columns.indexOf(c), all = i < 0 ? null : data.column(c);
        if (!all || !c.match(/^[A-Za-z_.]+'?$/) || /force|impulse|gap|closed/.test(c)) continue; // forces of closed contacts jump with rounding
        let size = 1e-6;
        for (const x of all) size = Math.max(size, Math.abs(x));
        let error = Math.abs(all.at(-1) - last[i]) / size;
        if (error > 1e-6) { // many impacts at once: what another tolerance or rounding changes as much is no error of the engine
            others ??= [['--option', 'tol=1e-10'], ...[1e-12, -1e-12, 1e-13].map(e => ['--step', String(step * (1 + e))])]
                .map(more => program(model, use, T, ...more));
            if (others.some(o => error * size < 3 * Math.abs(last[i] - o.last[i]))) error = 0;
        }
        if (error > worst) [worst, where] = [error, c];
    }
    check(`${name}: what the program gives`, worst < 1e-6, `${worst.toExponential(1)} ${where}`);
}

// -- links: they may come from anybody ------------------------------------------------------------------------------

const through = async state => JSON.stringify(await unpack(await pack(state)));
check('a link holds text, values and settings', await through({ text: 'a', values: { k: 2 }, end: '3' }) === '{"text":"a","values":{"k":2},"end":"3"}');
check('values that are no numbers are left out', await through({ text: 'a', values: { k: '2', m: null, o: 3 } }) === '{"text":"a","values":{"o":3}}' && await through({ text: 'a', values: 'abc' }) === '{"text":"a","values":{}}');
check('a link without a text is none', await through(null) === 'null' && await through({ text: 5 }) === 'null' && await unpack('#m=!') === null);
check('settings of a link are texts', await through({ text: 'a', values: {}, end: { toString: 1 }, step: ['3'] }) === '{"text":"a","values":{}}');
check('a link that unpacks to too much is none', await through({ text: 'x'.repeat(1e7) }) === 'null');

// -- the page ----------------------------------------------------------------------------------------------------

const file = join(folder, 'play.html');
execFileSync(carom, ['play', '-o', file]);
check('the page is below 2.3 MB', statSync(file).size < 2.3e6, statSync(file).size);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
async function open(name, { width = 1400, height = 850, hash = '' } = {}) {
    const page = await browser.newPage({ viewport: { width, height } }), words = [];
    page.on('console', m => { if (!/WebGL/.test(m.text())) words.push(`${m.type()}: ${m.text()}`); }); // WebGL in software says so
    page.on('pageerror', e => words.push(`error: ${e.message}`));
    page.on('dialog', d => d.accept()); // changed text may be left
    const began = Date.now();
    await page.goto(`file://${name}${hash}`);
    await page.waitForFunction(() => window.caromPlay?.done > 0, null, { timeout: 60000 });
    return { page, words, ms: Date.now() - began };
}
const shot = async (page, name) => { if (shots) { await page.waitForTimeout(700); await page.screenshot({ path: join(shots, `${name}.png`) }); } };
const frames = page => page.locator('#results iframe');
const title = (page, i = 0) => page.frames().filter(f => f.parentFrame())[i].locator('header h1').textContent();
const rerun = async (page, act) => {
    const before = await page.evaluate(() => window.caromPlay.done);
    await act();
    await page.waitForFunction(n => window.caromPlay.done > n, before, { timeout: 60000 });
    await page.waitForFunction(() => [...document.querySelectorAll('#results iframe')].every(f => f.contentWindow?.carom)); // and its frames are drawn
};

const { page, words, ms } = await open(file);
check('the first run is there', await frames(page).count() === 1 && (await title(page)).includes('slider-crank'), `${ms} ms`);
await page.waitForFunction(() => document.querySelector('#results iframe').contentWindow?.carom?.player.t > 0, null, { timeout: 30000 })
    .then(() => check('and moves', true), () => check('and moves', false));
const wide = await page.locator('#editor').evaluate(e => e.offsetWidth);
check('the text is wide enough to read', wide > 540, wide);
const unnamed = await page.evaluate(() => [...document.querySelectorAll('#app input, #app select')].filter(e => !e.labels?.length && !e.getAttribute('aria-label')).map(e => e.id));
check('all fields have a label', unnamed.length === 0, unnamed.join());
check('keys and numbers have colours', await page.evaluate(() => { // of words of the text
    const tone = text => { const e = [...document.querySelectorAll('.cm-line span')].find(x => x.textContent === text); return e && getComputedStyle(e).color; };
    return tone('parameters') && tone('0.153') && tone('parameters') !== tone('0.153');
}));
await shot(page, 'play');

// What is fitted stays so in another size.
const scale = async size => {
    await page.setViewportSize(size);
    await page.waitForTimeout(500);
    return page.frames().find(f => f.parentFrame()).evaluate(() => { const { view, w } = window.carom.scene; return [view.scale, w]; });
};
const [[s0, w0], [s1, w1], [s2]] = [await scale({ width: 1400, height: 850 }), await scale({ width: 400, height: 850 }), await scale({ width: 1400, height: 850 })];
check('the drawing is fitted to a narrow window', w1 < w0 && s1 < 0.8 * s0 && s2 === s0, `${s0} ${s1} ${s2}`);

// What covers the drawing?  Nothing lies over its canvas.
const covers = await page.frames().find(f => f.parentFrame()).evaluate(() => {
    const c = document.querySelector('canvas.scene'), r = c.getBoundingClientRect();
    return [0.02, 0.25, 0.5, 0.75, 0.98].flatMap(x => [0.02, 0.25, 0.5, 0.75, 0.98].map(y => document.elementFromPoint(r.left + x * r.width, r.top + y * r.height))).filter(e => e && e !== c).length;
});
check('nothing covers the mechanism', covers === 0, covers);

// Keys that may stand where one writes, from the schema.
// On a busy machine the list for the words before stands for a while: the wanted one is waited for.
const offered = async (text, wanted) => {
    await page.evaluate(() => { window.caromPlay.editor.text = 'carom: 1\n'; });
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(text, { delay: 5 });
    await page.locator('.cm-tooltip-autocomplete li', { hasText: wanted }).first().waitFor({ timeout: 5000 }).catch(() => {});
    return page.locator('.cm-tooltip-autocomplete li').allTextContents();
};
const before = await page.evaluate(() => window.caromPlay.editor.text);
let list = await offered('simul', 'simulation');
check('a section is offered', list[0] === 'simulation', list.join());
list = await offered('bodies: {ball: {mass: 1, iner', 'inertia');
check('a key of a body is offered', list.includes('inertia') && !list.includes('simulation'), list.join());
list = await offered('contacts:\ng: {rest', 'restitution');
check('a key of a contact, by indentation', list.includes('restitution'), list.join());
list = await offered('simulation: {scheme: moreau-', 'moreau-midpoint');
check('schemes are offered', list.includes('moreau-jean') && list.includes('moreau-midpoint'), list.join());
await shot(page, 'play-complete');
await page.keyboard.press('Escape');
await page.evaluate(text => { window.caromPlay.editor.text = text; }, before);
await page.evaluate(() => window.caromPlay.check());

// A slider, another scheme beside, a shorter end.
await page.locator('#end').fill('0.05');
await rerun(page, () => page.locator('#end').press('Tab'));
await rerun(page, () => page.locator('#other').selectOption('moreau-jean'));
await page.waitForTimeout(600);
const times = await Promise.all(page.frames().filter(f => f.parentFrame()).map(f => f.evaluate(() => window.carom.player.t)));
check('two schemes side by side, at the same time', await frames(page).count() === 2 && times[0] > 0 && Math.abs(times[0] - times[1]) < 2e-3, times.join(' '));
await shot(page, 'play-two');
await rerun(page, () => page.locator('.slider').first().locator('.number').fill('0.17').then(() => page.locator('.slider').first().locator('.number').press('Tab')));
check('a parameter that was moved', await page.frames().filter(f => f.parentFrame())[0].evaluate(() => window.carom.data.page.run.set.includes('l1=0.17')));

// A link holds all of it.
await page.locator('#share').click();
await page.waitForFunction(() => location.hash.startsWith('#m='));
const hash = await page.evaluate(() => location.hash), second = await open(file, { hash });
check('a link brings text, settings and values', await frames(second.page).count() === 2 && await second.page.locator('#end').inputValue() === '0.05' &&
    await second.page.locator('.slider').first().locator('.number').inputValue() === '0.17', `${hash.length} letters`);
await second.page.close();
const broken = await open(file, { hash: '#m=broken' });
await broken.page.waitForFunction(() => document.getElementById('message').textContent.startsWith('This link is damaged; showing slider-crank'), null, { timeout: 5000 })
    .then(() => check('a broken link is said to be one', true), () => check('a broken link is said to be one', false));
await broken.page.close();

// A typo is underlined where it is, with the sentence of the program.
await page.evaluate(() => { const e = window.caromPlay.editor; e.text = e.text.replace('energy:', 'energi:'); });
await page.evaluate(() => window.caromPlay.check());
await page.waitForFunction(() => document.querySelector('#message').classList.contains('bad'));
const said = await page.locator('#message').textContent();
check('a typo: sentence and place', said.includes("did you mean 'energy'") && await page.locator('.editor u').textContent() === 'energi', said);
await shot(page, 'play-typo');

// A run that would take long is stopped.
await page.evaluate(() => { window.caromPlay.editor.text = 'carom: 1\ncoordinates: {x: 1}\nenergy: {kinetic: "x\'^2", potential: x^2}\nsimulation: {scheme: moreau-midpoint, step: 1e-6, end: 1000}\n'; });
await page.evaluate(() => window.caromPlay.check());
await page.locator('#end').fill('');
await page.locator('#other').selectOption('-');
await page.waitForFunction(() => document.querySelector('#run').textContent === 'stop');
await page.waitForTimeout(300);
await page.locator('#run').click();
check('a long run is stopped', await page.locator('#run').textContent() === 'run' && (await page.locator('#message').textContent()).includes('stopped'));

// Bodies in space; every width without a scrollbar across.
await rerun(page, () => page.locator('#gallery').selectOption({ label: 'spinning-top' }).catch(() => {}));
await page.frameLocator('#results iframe').locator('canvas.scene').waitFor({ timeout: 30000 }); // the page inside loads for itself
check('a model in space', await page.frameLocator('#results iframe').locator('canvas.scene').evaluate(c => !!c.getContext('webgl2')));
await shot(page, 'play-space');
for (const width of [360, 400, 480, 768, 1024, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    check(`${width} px: no scrollbar across`, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    const astray = await page.evaluate(() => { // a number is part of its line, left of the text, whether the editor is in view or not
        const { view } = window.caromPlay.editor;
        return [...document.querySelectorAll('.cm-line')].filter(e => {
            const at = view.state.doc.lineAt(view.posAtDOM(e)).number, number = getComputedStyle(e, '::before'), text = document.createRange();
            text.selectNodeContents(e);
            const left = (text.getClientRects()[0] ?? e.getBoundingClientRect()).left - e.getBoundingClientRect().left;
            return e.dataset.line !== String(at) || !number.content.startsWith(`"${at}"`) || number.top !== '0px' || (e.textContent && left < parseFloat(number.width));
        }).length;
    });
    check(`${width} px: line numbers stand at their lines`, astray === 0, astray);
    if (width === 360) await shot(page, 'play-phone');
}
await page.evaluate(() => { const e = window.caromPlay.editor; e.text = Array(200).fill('# a line').join('\n'); });
await page.locator('.cm-content').click();
await page.keyboard.press('Control+Home');
await page.keyboard.press('Enter');
await page.keyboard.press('Control+End');
await page.waitForFunction(() => [...document.querySelectorAll('.cm-line')].at(-1).dataset.line === '201', null, { timeout: 5000 })
    .then(() => check('line numbers follow what is written', true), () => check('line numbers follow what is written', false));
check('nothing on the console', words.length === 0, words.join(' | '));

// A model of one's own.
const own = join(folder, 'mine.yaml'), mine = join(folder, 'mine.html');
writeFileSync(own, 'carom: 1\nname: Mine </script>\ncoordinates: {y: 1}\nenergy: {kinetic: "y\'^2", potential: 20*y}\ncontacts: {ground: {gap: y, restitution: 0.5}}\nsimulation: {scheme: mixed, step: 0.01, end: 2}\n');
execFileSync(carom, ['play', own, '-o', mine]);
writeFileSync(own, readFileSync(own, 'utf8').replace('coordinates:', 'parameters: {k: 3 kN/m, n: 2}\ncoordinates:').replace('20*y', '20*y + n*k*y^2'));
execFileSync(carom, ['play', own, '-o', join(folder, 'units.html')]);
const fourth = await open(join(folder, 'units.html')), sliders = await fourth.page.locator('.slider').evaluateAll(rows => rows.map(r => `${r.querySelector('button').textContent} ${r.querySelector('.number').value} ${r.querySelector('span').textContent}`.trim()));
check('sliders have the units of the model', sliders.join() === 'k 3 kN/m,n 2', sliders.join());
await rerun(fourth.page, () => fourth.page.locator('.slider .number').first().fill('4').then(() => fourth.page.locator('.slider .number').first().press('Tab')));
const sent = await fourth.page.frames().find(f => f.parentFrame()).evaluate(() => window.carom.data.page.run.set);
check('a value is set in that unit', sent === 'k=4 kN/m', sent);
await shot(fourth.page, 'play-units');
await fourth.page.close();
const third = await open(mine);
check('a model of one\'s own', await third.page.locator('#gallery').inputValue() === '-1' && (await title(third.page)).includes('Mine </script>'), basename(mine));
await browser.close();
if (failures) { console.log(`${failures} failed`); process.exit(1); }
