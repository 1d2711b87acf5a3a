// build.mjs: src/ and the pinned packages -> dist/, which is committed and becomes part of the program.
//
//   node build.mjs           write dist/
//   node build.mjs --check   make it anew elsewhere and compare: exit 1 when dist/ is not what the sources give
//
// dist/sources.txt names every input with its SHA-256, so that a test without node can tell a stale bundle.
import * as esbuild from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const check = process.argv.includes('--check');
const out = check ? mkdtempSync(join(tmpdir(), 'carom-page-')) : join(here, 'dist');

const license = name => `/*! ${name}\n${readFileSync(join(here, 'node_modules', name, 'LICENSE'), 'utf8').trim()} */`;

async function bundle(entry, file, packages, format = 'iife') {
    const result = await esbuild.build({
        entryPoints: [join(here, 'src', entry)], bundle: true, minify: true, write: false, charset: 'utf8',
        format: entry.endsWith('.css') ? undefined : format, target: format === 'esm' ? ['es2022'] : ['es2020', 'chrome90', 'firefox90', 'safari15'], legalComments: 'none',
        banner: entry.endsWith('.css') ? {} : { js: packages.map(license).join('\n') }, absWorkingDir: here,
    });
    const text = result.outputFiles[0].text;
    if (/<\/script|<!--/i.test(text)) throw new Error(`${file} holds what would end a script in a page`);
    writeFileSync(join(out, file), text);
    return `${file} ${(text.length / 1024).toFixed(0)} KB`;
}

function sources() {
    const files = ['build.mjs', 'package.json', 'package-lock.json', ...readdirSync(join(here, 'src')).sort().map(f => `src/${f}`)];
    const hash = f => createHash('sha256').update(readFileSync(join(here, f))).digest('hex');
    writeFileSync(join(out, 'sources.txt'), files.map(f => `${hash(f)}  ${f}\n`).join(''));
}

mkdirSync(out, { recursive: true });
const made = [await bundle('main.js', 'page.js', ['uplot']), await bundle('page.css', 'page.css', []), await bundle('space.js', 'space.js', ['three']),
              await bundle('play.js', 'play.js', ['@codemirror/state', '@lezer/common', 'style-mod', 'w3c-keyname', 'crelt', '@marijn/find-cluster-break'], 'esm'), await bundle('worker.js', 'worker.js', []), await bundle('play.css', 'play.css', [])];
sources();
if (!check) {
    console.log(made.join(', '));
} else {
    const stale = readdirSync(out).filter(f => {
        try { return !readFileSync(join(out, f)).equals(readFileSync(join(here, 'dist', f))); } catch { return true; }
    });
    rmSync(out, { recursive: true });
    if (stale.length) {
        console.error(`page/dist is not what page/src and the lock file give (${stale.join(', ')}); run: make page`);
        process.exit(1);
    }
    console.log('page/dist is what page/src and the lock file give');
}
