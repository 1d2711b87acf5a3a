// worker.js: the engine beside the page: one call of the compiled program after the other.
//
// In: {module} once, then {id, args, text}.  Out: {id, progress}, and at the end {id, code, out, wrong}: exit status, standard output, sentences.
import { call } from './wasi.js';

let module = null;

self.onmessage = async ({ data }) => {
    if (data.module) { module = data.module; return; }
    const wrong = [];
    const { code, out } = await call(module, data.args, data.text, news => {
        if ('progress' in news) self.postMessage({ id: data.id, progress: news.progress });
        else wrong.push(news.wrong);
    });
    self.postMessage({ id: data.id, code, out, wrong });
};
