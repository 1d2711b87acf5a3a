// browser.mjs CAROM CHROMIUM FOLDER: the pages of `carom view` in a real browser: they load without a word on the console, play, scrub, zoom.
// SHOTS=FOLDER keeps screenshots; MODELS=a,b looks at these models only.
import { chromium } from 'playwright-core';
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [carom, executablePath, folder] = process.argv.slice(2).map(f => resolve(f)), here = dirname(fileURLToPath(import.meta.url)), shots = process.env.SHOTS;
const models = join(here, '../../models');
mkdirSync(folder, { recursive: true });
if (shots) mkdirSync(shots, { recursive: true });

let failures = 0;
function check(what, good, more = '') {
    console.log(`${good ? 'ok    ' : 'FAILED'} ${what}${more === '' ? '' : `: ${more}`}`);
    if (!good) ++failures;
}

const make = (name, model, ...options) => {
    const result = join(folder, `${name}.h5`), page = join(folder, `${name}.html`);
    execFileSync(carom, ['run', model, '--quiet', '--out', result, ...options]);
    execFileSync(carom, ['view', result, '-o', page]);
    return page;
};
const part = (x, s) => [...x].sort((a, b) => a - b)[Math.floor(x.length * s)], ms = x => `${x.toFixed(1)} ms`;

// No graphics card is asked for: planar pages are drawn by the processor, spatial ones by WebGL in software.
const launch = (...args) => chromium.launch({ executablePath, args: ['--no-sandbox', ...args] });
let browser = await launch('--disable-gpu');

async function open(file, { width = 1280, height = 800, hash = '', dark = false } = {}) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' }), words = [], requests = [];
    page.setDefaultTimeout(180000); // WebGL in software: a frame of a thousand bodies takes seconds on a busy machine, and a screenshot waits for several
    page.on('console', m => words.push(`${m.type()}: ${m.text()}`));
    page.on('pageerror', e => words.push(`error: ${e.message}`));
    page.on('request', r => requests.push(r.url()));
    await page.goto(`file://${file}${hash}`);
    await page.waitForFunction(() => window.carom, null, { timeout: 180000 });
    return { page, words, requests };
}

const time = page => page.evaluate(() => window.carom.player.t);
const seek = (page, t) => page.evaluate(t => { window.carom.player.pause(); window.carom.player.seek(t); }, t);
const stage = async page => (await page.locator('.stage').screenshot()).toString('base64');
const quiet = ({ words, requests }, name) => {
    check(`${name}: nothing on the console`, words.length === 0, words.join(' | '));
    check(`${name}: nothing is fetched`, requests.length === 1, requests.slice(1).join(' '));
};

// How many pixels of a canvas have the colour of contact forces and flashes?
const glowing = page => page.evaluate(() => {
    const c = document.querySelector('canvas.scene'), copy = Object.assign(document.createElement('canvas'), { width: c.width, height: c.height });
    const ctx = copy.getContext('2d', { willReadFrequently: true });
    ctx.drawImage(c, 0, 0);
    const x = ctx.getImageData(0, 0, c.width, c.height).data;
    let n = 0;
    for (let i = 0; i < x.length; i += 4) n += x[i] > 200 && x[i + 1] > 40 && x[i + 1] < 190 && x[i + 2] < 140 && x[i] - x[i + 1] > 60;
    return n;
});

// -- slider-crank: everything --
{
    const file = make('slider-crank', join(models, 'slider-crank.yaml'), '--dt-out', '7.5e-5'), loads = [];
    check('slider-crank: 2000 rows in less than 1.5 MB', statSync(file).size < 1.5e6, `${(statSync(file).size / 1e6).toFixed(2)} MB`);
    for (let k = 0; k < 3; ++k) {
        const { page } = await open(file, { hash: '#t=0' });
        loads.push(await page.evaluate(() => window.carom.ready));
        await page.close();
    }
    check('slider-crank: ready in less than a second', Math.min(...loads) < 1000, `${Math.min(...loads).toFixed(0)} ms`);

    const tab = await open(file), { page } = tab;
    await page.waitForFunction(() => window.carom.player.frames.length > 60, null, { timeout: 180000 });
    const frames = await page.evaluate(() => ({ list: window.carom.player.frames, playing: window.carom.player.playing, t: window.carom.player.t }));
    const gaps = frames.list.slice(1).map((f, i) => f[0] - frames.list[i][0]), draws = frames.list.map(f => f[1]);
    check('plays by itself', frames.playing && frames.t > 0, `${frames.list.length} frames`);
    // The quarter of the frames that other work on the machine disturbed least tells what a frame costs.
    check('a frame costs less than half of a sixtieth of a second', part(draws, 0.25) < 8.3,
          `quartile ${ms(part(draws, 0.25))}, median ${ms(part(draws, 0.5))}; between frames ${ms(part(gaps, 0.25))}, ${ms(part(gaps, 0.5))}`);

    await page.keyboard.press('Space');
    const held = await time(page);
    await page.waitForTimeout(200);
    check('the space bar pauses', await time(page) === held);
    const before = await stage(page);
    const slider = await page.locator('#time').boundingBox();
    await page.mouse.click(slider.x + 0.4 * slider.width, slider.y + slider.height / 2);
    check('the scrub bar goes to a time', Math.abs(await time(page) - 0.06) < 0.003, await time(page));
    check('the picture follows', await stage(page) !== before);
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('ArrowRight');
    const next = await page.evaluate(() => { const { data, player } = window.carom; return data.t.includes(player.t); });
    check('arrow keys go row by row', next);

    await seek(page, 0.0199);
    const calm = await glowing(page);
    await page.keyboard.press('n');
    const hit = await page.evaluate(() => { const { data, player } = window.carom; return data.impacts.some(e => data.events.t[e] === player.t); });
    check('N goes to the next impact', hit, await time(page));
    check('impacts flash', await glowing(page) > calm + 200, `${calm} and ${await glowing(page)} pixels`);
    const held2 = await page.evaluate(() => { // in the middle of a long contact: force arrows without impact
        const { data, player } = window.carom, f = data.column('corner4.force'), k = f.indexOf(Math.max(...f));
        player.seek(data.t[k] + 0.6 * player.speed);
        player.seek(data.t[k]);
        return document.querySelectorAll('.chip.on').length;
    });
    check('closed contacts light up', held2 > 0, held2);

    const window1 = () => page.evaluate(() => window.carom.plots.window);
    const chart = await page.locator('.u-over').first().boundingBox();
    await page.mouse.move(chart.x + 0.3 * chart.width, chart.y + 40);
    await page.mouse.down();
    await page.mouse.move(chart.x + 0.5 * chart.width, chart.y + 60, { steps: 5 });
    await page.mouse.up();
    const zoomed = await window1();
    check('dragging zooms', Math.abs(zoomed[0] - 0.045) < 0.002 && Math.abs(zoomed[1] - 0.075) < 0.002, zoomed.map(x => x.toFixed(4)).join(' to '));
    const all = await page.evaluate(() => window.carom.plots.panels.every(p => Math.abs(p.plot.scales.x.min - window.carom.plots.window[0]) < 1e-12));
    check('all plots zoom together', all);
    await page.mouse.move(chart.x + 0.5 * chart.width, chart.y + 60);
    await page.mouse.wheel(0, -300);
    await page.waitForTimeout(100);
    const wheeled = await window1();
    check('the wheel zooms', wheeled[1] - wheeled[0] < 0.9 * (zoomed[1] - zoomed[0]));
    const at = await time(page);
    await page.mouse.click(chart.x + 0.7 * chart.width, chart.y + 60);
    check('a click on a plot goes there', await time(page) !== at && await time(page) > wheeled[0] && await time(page) < wheeled[1]);
    await page.mouse.dblclick(chart.x + 0.5 * chart.width, chart.y + 60);
    const back = await window1();
    check('a double click shows the whole time', back[0] === 0 && Math.abs(back[1] - 0.15) < 1e-9);

    const count = await page.locator('.panel').count();
    await page.locator('#add').click();
    await page.locator('#chooser input[type=search]').fill('slider.x');
    await page.locator('#chooser label').first().click();
    await page.keyboard.press('Escape');
    const chosen = await page.evaluate(() => window.carom.plots.panels.at(-1).names);
    check('a plot of any column', await page.locator('.panel').count() === count + 1 && chosen.join() === 'slider.x', chosen.join());

    for (const [name, text] of [['ledger', 'lost to impacts'], ['events', 'impulse'], ['model', 'contact defaults']]) {
        await page.locator(`[data-tab=${name}]`).click();
        check(`tab ${name}`, (await page.locator(`#tab-${name}`).textContent()).includes(text));
    }
    await page.locator('[data-tab=plots]').click();
    await page.keyboard.press('d');
    check('D makes it dark', await page.evaluate(() => document.documentElement.dataset.theme) === 'dark');
    await page.keyboard.press('?');
    check('? lists the keys', await page.locator('#keys').isVisible());
    quiet(tab, 'slider-crank');
    await page.close();
    if (shots) { // the picture of docs/view.md
        const { page: picture } = await open(file, { width: 1440, height: 860, hash: '#t=0.0315' });
        await picture.screenshot({ path: join(shots, 'view.png') });
        await picture.close();
    }
}

// -- all models, at several sizes --
const sizes = [[1440, 900], [1024, 700], [390, 844]];
await browser.close();
browser = await launch('--use-angle=swiftshader', '--enable-unsafe-swiftshader'); // some are spatial
const wanted = process.env.MODELS?.split(','), standing = ['arch']; // what stands does not move
for (const name of readdirSync(models).filter(f => f.endsWith('.yaml')).map(f => f.slice(0, -5)).filter(n => wanted?.includes(n) ?? true).sort()) {
    const file = make(name, join(models, `${name}.yaml`));
    for (const [k, [width, height]] of sizes.entries()) {
        if (k && name !== 'slider-crank' && !shots) continue;
        const tab = await open(file, { width, height, hash: '#t=0', dark: k === 1 }), { page } = tab;
        const first = await stage(page);
        await seek(page, 0.37 * await page.evaluate(() => window.carom.data.end));
        if (!standing.includes(name)) check(`${name}, ${width} x ${height}: it moves`, await stage(page) !== first);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        check(`${name}, ${width} x ${height}: it fits`, wide <= 0, wide);
        if (shots) await page.screenshot({ path: join(shots, `${name}-${width}.png`) });
        quiet(tab, name);
        await page.close();
    }
}

// -- no drawing; a spatial one --
const text = readFileSync(join(models, 'pendulum.yaml'), 'utf8');
writeFileSync(join(folder, 'bare.yaml'), text.replace(/draw:\n( .*\n)+/, ''));
copyFileSync(join(here, 'space.yaml'), join(folder, 'space.yaml'));
for (const name of ['bare', 'space']) {
    const tab = await open(make(name, join(folder, `${name}.yaml`)), { hash: '#t=0' }), { page } = tab;
    const first = await stage(page);
    await seek(page, 1.1);
    check(`${name}: it moves`, await stage(page) !== first);
    if (shots) await page.screenshot({ path: join(shots, `${name}.png`) });
    if (name === 'space') {
        check('space: drawn by WebGL', await page.evaluate(() => !!document.querySelector('canvas.scene').getContext('webgl2')));
        const box = await page.locator('canvas.scene').boundingBox(), still = await stage(page);
        await page.mouse.move(box.x + 200, box.y + 200);
        await page.mouse.down();
        await page.mouse.move(box.x + 300, box.y + 230, { steps: 4 });
        await page.mouse.up();
        check('space: dragging turns the view', await stage(page) !== still);
        await page.evaluate(() => { window.carom.player.frames.length = 0; window.carom.player.play(); });
        await page.waitForFunction(() => window.carom.player.frames.length > 10, null, { timeout: 180000 });
        const draws = await page.evaluate(() => window.carom.player.frames.map(f => f[1]));
        check('space: it plays', await time(page) > 0, `quartile ${ms(part(draws, 0.25))}, median ${ms(part(draws, 0.5))} of script per frame`);
    }
    quiet(tab, name);
    await page.close();
}

// -- a body that slides far through space: what it sweeps is in the picture from the start, also of a stage that is taller than wide --
writeFileSync(join(folder, 'slide.yaml'), 'carom: 1\ngravity: [4, 0, -9]\nshapes: {slope: {plane: [0, 0, 1]}}\nbodies: {brick: {mass: 2, inertia: [2e-3, 7e-3, 8e-3], at: [0, 0, 0.05], velocity: [0, 0.5, 0], shape: {box: [0.2, 0.1, 0.06]}}}\n'
    + 'contacts: {rub: {between: [brick, slope], friction: 0.3}}\nsimulation: {scheme: moreau-midpoint, step: 1e-3, end: 1}\n');
for (const [width, height] of [[1200, 900], [900, 1000]]) {
    const { page } = await open(make('slide', join(folder, 'slide.yaml')), { width, height, hash: '#t=0' });
    const most = await page.evaluate(() => { // of the corners of the box around everything: 1 is the edge of the picture
        const { scene } = window.carom, { low, high, camera } = scene;
        scene.draw(0, 0);
        camera.updateMatrixWorld();
        return Math.max(...[0, 1, 2, 3, 4, 5, 6, 7].map(k => {
            const p = low.clone().set(k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z).project(camera);
            return Math.max(Math.abs(p.x), Math.abs(p.y));
        }));
    });
    check(`slide: all of it is in the picture, ${width} x ${height}`, most < 1, most);
    await page.close();
}

// -- floors without an end, a view that follows, axes, deflections --
writeFileSync(join(folder, 'roll.yaml'), 'carom: 1\ngravity: [0, -9.81]\nshapes: {floor: {plane: [0, 1]}}\nbodies: {wheel: {mass: 1, inertia: 0.01, at: [0, 0.2], velocity: [20, 0], shape: {circle: 0.2}}}\n'
    + 'contacts: {ground: {between: [wheel, floor]}}\nsimulation: {scheme: mixed, step: 0.01, end: 2}\n');
{
    const tab = await open(make('roll', join(folder, 'roll.yaml')), { hash: '#t=0' }), { page } = tab;
    const dark = x => page.evaluate(x => { // is the floor there, at this share of the width?
        const c = document.querySelector('canvas.scene'), s = window.carom.scene, copy = Object.assign(document.createElement('canvas'), { width: c.width, height: c.height }), ctx = copy.getContext('2d', { willReadFrequently: true });
        ctx.drawImage(c, 0, 0);
        const p = ctx.getImageData(Math.round(x * (c.width - 1)), Math.round(s.Y(0) * s.ratio), 1, 1).data;
        return p[0] < 200;
    }, x);
    check('roll: the floor reaches across', await dark(0.01) && await dark(0.5) && await dark(0.99));
    await page.locator('#follow').selectOption({ label: 'wheel' });
    await seek(page, 2);
    const x = await page.evaluate(() => window.carom.scene.X(40)), width = await page.evaluate(() => window.carom.scene.w);
    check('roll: the view follows the wheel', Math.abs(x - await page.evaluate(() => window.carom.scene.w / 2)) < width && await dark(0.99), x);
    const still = await stage(page);
    await page.keyboard.press('x');
    check('roll: axes', await stage(page) !== still);
    quiet(tab, 'roll');
    await page.close();
}
{
    const tab = await open(make('bend', join(models, 'flexible-rod.yaml'), '--end', '0.01'), { hash: '#t=0.005' }), { page } = tab, still = await stage(page);
    check('bend: deflections can be scaled', await page.locator('#deflection-box').isVisible());
    await page.locator('#deflection').selectOption('100');
    check('bend: they are drawn larger', await stage(page) !== still);
    quiet(tab, 'bend');
    await page.close();
}

// -- units at axes, curves, clock and ledger; impacts of a run with more events than the page holds --
writeFileSync(join(folder, 'units.yaml'), 'carom: 1\nparameters: {k: 3 kN/m}\ngravity: [0, -9.81]\nshapes: {floor: {plane: [0, 1]}}\nbodies: {ball: {mass: 250 g, inertia: 0.01, at: [0, 50 cm], velocity: [0.1, 0], spin: 0.5, shape: {circle: 0.1}}}\n'
    + 'springs: {s: {between: [ground, ball], points: [[0, 1], [0, 0]], stiffness: k/1000, length: 0.5}}\ncontacts: {ground: {between: [ball, floor], restitution: 0.9}}\noutputs: {half: ball.x/2}\nsimulation: {scheme: mixed, step: 0.01, end: 2}\n');
for (const width of [1280, 768, 360]) {
    const tab = await open(make('units', join(folder, 'units.yaml')), { width, hash: '#t=0' }), { page } = tab;
    const titles = await page.locator('.panel .title').allTextContents(), impacts = await page.evaluate(() => window.carom.data.page.ledger.impacts);
    check(`units, ${width} px: titles of plots`, titles.includes('gap (m)') && titles.includes('impulse (N s)') && titles.includes('energy (J)') && titles.includes('position'), titles.join(', '));
    const curves = await page.locator('.panel').first().locator('.curve').evaluateAll(list => list.map(b => `${b.querySelector('span').textContent}: ${b.title}`));
    check(`units, ${width} px: curves of several units`, curves.includes('ball.y (m): ball.y (m): show or hide'), curves.join(' | '));
    check(`units, ${width} px: time`, (await page.locator('#clock').textContent()).endsWith(' s'));
    check(`units, ${width} px: impacts of the ledger`, (await page.locator('[data-tab=events] .count').textContent()) === `${impacts} impacts`, impacts);
    await page.locator('[data-tab=ledger]').click();
    check(`units, ${width} px: ledger`, (await page.locator('#tab-ledger h3').first().textContent()) === 'Energy (J)');
    check(`units, ${width} px: penetration and its time`, /largest penetration\S* ?m/.test(await page.locator('#tab-ledger').textContent()));
    await page.locator('[data-tab=events]').click();
    const heads = await page.locator('table.events th').allTextContents();
    check(`units, ${width} px: events`, heads.join() === 't (s),contact,event,before (m/s),after (m/s),impulse (N s)', heads.join());
    for (const name of ['model', 'ledger', 'events', 'plots']) {
        await page.locator(`[data-tab=${name}]`).click();
        check(`units, ${width} px: ${name} fits`, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    }
    await page.keyboard.press('x');
    if (shots) await page.screenshot({ path: join(shots, `units-${width}.png`) });
    quiet(tab, 'units');
    await page.close();
}

// -- a thousand bodies: few calls of the graphics library, little script --
writeFileSync(join(folder, 'crowd.yaml'), 'carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies: {ball: {repeat: [10, 10, 10], body: {mass: 1, inertia: [0.004, 0.004, 0.004], '
    + 'at: [0.3*i + 0.01*k, 0.3*j, 0.3*k + 1], shape: {sphere: 0.1}}}}\ncontacts: {pile: {among: ball}, ground: {between: [ball, floor]}}\nsimulation: {scheme: moreau-midpoint, step: 0.01, end: 0.3}\n');
{
    const tab = await open(make('crowd', join(folder, 'crowd.yaml')), { hash: '#t=0&webgl' }), { page } = tab; // a program does the work of the graphics card, and would be spared
    const cost = await page.evaluate(() => {
        const { scene, data } = window.carom, render = scene.renderer.render;
        scene.draw(0, 1);
        const calls = scene.renderer.info.render.calls;
        scene.renderer.render = () => {};
        const draws = [];
        for (let k = 0; k < 100; ++k) {
            const began = performance.now();
            scene.draw(data.end * k / 100, 1);
            draws.push(performance.now() - began);
        }
        scene.renderer.render = render;
        return { calls, draws };
    });
    check('crowd: a thousand balls leave time for 30 frames a second', cost.calls < 20 && part(cost.draws, 0.25) < 8, `${cost.calls} calls, quartile ${ms(part(cost.draws, 0.25))}, median ${ms(part(cost.draws, 0.5))} of script per frame`);
    await page.close();
}

// -- a ball that rolls away does not shrink the rest; a button shows it all the same --
const space = 'carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies: {ball: {repeat: [6, 6], body: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0.3*i, 0.3*j, 0.1], '
    + 'velocity: ["max(0, 30*sign(i*j - 24))", 0, 0], shape: {sphere: 0.1}}}, can: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [1.7, -0.4, 0.5], shape: {cylinder: [0.2, 0.4]}}, '
    + 'plate: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.7, 0.7, 0.5], shape: {box: [0.5, 0.3, 0.1]}}}\ncontacts: {ground: {between: [[ball, plate, can], floor], friction: 0.3}}\n'
    + 'simulation: {scheme: moreau-midpoint, step: 5e-3, end: 1}\n';
const plane = 'carom: 1\ngravity: [0, -9.81]\nshapes: {floor: {plane: [0, 1]}}\nbodies: {disc: {repeat: [20], body: {mass: 1, inertia: 0.005, at: [0.3*i, 0.1], velocity: ["max(0, 30*sign(i - 18))", 0], shape: {circle: 0.1}}}}\n'
    + 'contacts: {ground: {between: [disc, floor]}}\nsimulation: {scheme: moreau-midpoint, step: 5e-3, end: 1}\n';
for (const [name, model] of [['away', space], ['away2', plane]]) {
    writeFileSync(join(folder, `${name}.yaml`), model);
    const tab = await open(make(name, join(folder, `${name}.yaml`)), { hash: '#t=0.5' }), { page } = tab;
    const reach = () => page.evaluate(() => { // how far one sees, in metres
        const { scene } = window.carom;
        return scene.camera ? scene.camera.position.distanceTo(scene.controls.target) : scene.w / scene.view.scale;
    });
    const near = await reach();
    if (shots) await page.screenshot({ path: join(shots, `${name}.png`) });
    await page.locator('#all').click();
    const far = await reach();
    await page.locator('#fit').click();
    check(`${name}: the view fits what stays, and all on demand`, near < 12 && far > 3 * near && Math.abs(await reach() - near) < 1e-9 * near, `${near.toFixed(1)}, ${far.toFixed(1)}`);
    quiet(tab, name);
    await page.close();
}

// -- without WebGL: a projection of the bodies --
await browser.close();
browser = await launch('--disable-gpu', '--disable-3d-apis');
for (const name of ['away', 'space', 'crowd']) {
    const tab = await open(join(folder, `${name}.html`), { hash: '#t=0' }), { page } = tab, first = await stage(page);
    await seek(page, 0.25);
    const tones = await page.evaluate(() => { // colours of the picture
        const c = document.querySelector('canvas.scene'), ctx = c.getContext('2d'), x = ctx ? ctx.getImageData(0, 0, c.width, c.height).data : [], seen = new Set();
        for (let i = 0; i < x.length; i += 4) seen.add(x[i] << 16 | x[i + 1] << 8 | x[i + 2]);
        return seen.size;
    });
    check(`${name}, no WebGL: bodies are drawn and move`, tones > 50 && await stage(page) !== first, `${tones} colours`);
    if (shots) await page.screenshot({ path: join(shots, `${name}-painted.png`) });
    const still = await stage(page), box = await page.locator('canvas.scene').boundingBox();
    await page.mouse.move(box.x + 200, box.y + 200);
    await page.mouse.down();
    await page.mouse.move(box.x + 300, box.y + 230, { steps: 4 });
    await page.mouse.up();
    check(`${name}, no WebGL: dragging turns the view`, await stage(page) !== still);
    quiet(tab, name);
    await page.close();
}

// -- ten thousand bodies: the page opens within seconds, and moves --
writeFileSync(join(folder, 'world.yaml'), readFileSync(join(folder, 'crowd.yaml'), 'utf8').replace('[10, 10, 10]', '[22, 22, 22]').replace('end: 0.3', 'end: 0.6'));
{
    const file = make('world', join(folder, 'world.yaml')), tab = await open(file, { hash: '#t=0' }), { page } = tab;
    const size = statSync(file).size / 1e6, ready = await page.evaluate(() => window.carom.ready);
    check('world: 10 648 balls in less than 40 MB, ready in 15 s of a busy machine', size < 40 && ready < 15000, `${size.toFixed(1)} MB, ${ready.toFixed(0)} ms`);
    const first = await stage(page);
    await page.evaluate(() => { window.carom.player.frames.length = 0; window.carom.player.play(); });
    await page.waitForFunction(() => window.carom.player.frames.length > 10, null, { timeout: 60000 });
    const draws = await page.evaluate(() => window.carom.player.frames.map(f => f[1]));
    check('world: it plays', part(draws, 0.25) < 60 && await stage(page) !== first, `quartile ${ms(part(draws, 0.25))}, median ${ms(part(draws, 0.5))} of script per frame`);
    const exact = await page.evaluate(() => { const { data } = window.carom, t = data.t[5], z = data.column('ball.3.4.5.z')[5]; return Math.abs(z - (0.3 * 5 + 1 - 0.5 * 9.81 * t * (t + 0))); });
    check('world: numbers of 16 bits', exact < 0.02, exact); // the scheme's own error of free fall is g h t / 2
    quiet(tab, 'world');
    await page.close();
}
await browser.close();
browser = await launch('--use-angle=swiftshader', '--enable-unsafe-swiftshader');

const run = (...args) => { try { return { status: 0, out: execFileSync(carom, args, { cwd: folder, env: { ...process.env, CHROMIUM: executablePath }, stdio: ['ignore', 'pipe', 'pipe'] }).toString() }; } catch (e) { return { status: e.status, out: String(e.stderr) }; } };

// -- a run that goes on: the page loads itself again and stays at the newest row, after the last one, too --
{
    run('view', 'roll.h5', '--live', '-o', 'live.html');
    const { page } = await open(join(folder, 'live.html')), atEnd = () => page.evaluate(() => window.carom.player.t === window.carom.data.end && !window.carom.player.playing);
    check('live: the newest row', await atEnd());
    run('view', 'roll.h5', '-o', 'live.html');
    await page.waitForEvent('load');
    await page.waitForFunction(() => window.carom);
    check('live: the last row', await atEnd());
    await page.close();
}

// -- pictures and films --
check('a picture', run('view', 'roll.h5', '--png', 't=1', '--size', '400x300').status === 0 && readFileSync(join(folder, 'roll.png')).readUInt32BE(16) === 400 && readFileSync(join(folder, 'roll.png')).readUInt32BE(20) === 300);
check('a picture at a time that is not there', run('view', 'roll.h5', '--png', 't=3').status === 2);
const shown = run('film', 'roll.h5', '-o', 'roll.gif', '--size', '200x120', '--fps', '10', '--speed', '1');
if (/ffmpeg, which is not/.test(shown.out)) console.log('skip   a film: no ffmpeg');
else {
    const gif = readFileSync(join(folder, 'roll.gif')), pictures = [...Array(gif.length - 2).keys()].filter(k => gif[k] === 0x21 && gif[k + 1] === 0xf9 && gif[k + 2] === 4).length;
    const child = spawn(carom, ['film', 'roll.h5', '-o', 'stopped.mp4', '--size', '200x120'], { cwd: folder, env: { ...process.env, CHROMIUM: executablePath, TMPDIR: folder }, stdio: 'ignore' });
    await new Promise(done => setTimeout(done, 2500));
    child.kill('SIGTERM');
    await new Promise(done => child.on('exit', done));
    const left = readdirSync(folder).filter(f => /^stopped|\.part$|^carom-film/.test(f));
    check('a film that is stopped leaves nothing', left.length === 0, left.join());
    check('a film of 21 pictures', shown.status === 0 && gif.toString('latin1', 0, 6) === 'GIF89a' && gif.readUInt16LE(6) === 200 && pictures >= 20, pictures);
}

await browser.close();
console.log(failures ? `${failures} failed` : 'all is well');
process.exit(failures ? 1 : 0);
