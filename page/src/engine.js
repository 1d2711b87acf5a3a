// engine.js: runs of the compiled program in a worker: asked for, followed, given up.

function base64(text) {
    const letters = atob(text), bytes = new Uint8Array(letters.length);
    for (let i = 0; i < bytes.length; ++i) bytes[i] = letters.charCodeAt(i);
    return bytes;
}

/** The compiled engine, from the page's own text. */
export async function compile(document) {
    const packed = base64(document.getElementById('carom-wasm').textContent.trim());
    const bytes = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
    return WebAssembly.compile(bytes);
}

export class Engine {
    constructor(document, module) {
        this.url = URL.createObjectURL(new Blob([document.getElementById('carom-worker').textContent], { type: 'text/javascript' }));
        this.module = module;
        this.next = 1;
        this.worker = null; // started by the first call
    }

    start() {
        this.worker = new Worker(this.url);
        this.worker.postMessage({ module: this.module });
        this.worker.onmessage = ({ data }) => {
            if (!this.waiting || data.id !== this.waiting.id) return;
            if ('progress' in data) { this.waiting.progress?.(data.progress); return; }
            const { done } = this.waiting;
            this.waiting = null;
            done(data);
        };
    }

    /** One call at a time; an earlier one is given up, and its promise gives null. */
    call(args, text, progress) {
        this.stop();
        if (!this.worker) this.start();
        return new Promise(done => {
            this.waiting = { id: this.next++, done, progress };
            this.worker.postMessage({ id: this.waiting.id, args, text });
        });
    }

    stop() {
        if (!this.waiting) return;
        const { done } = this.waiting;
        this.waiting = null;
        this.worker.terminate();
        this.worker = null;
        done(null);
    }
}
