// wasi.js: a call of the compiled program: arguments and a text in, a text out, from a fresh start.
//
// The program asks for no more of a system than arguments, a clock, one stream in and two out: the functions of WASI below.
const decoder = new TextDecoder(), encoder = new TextEncoder();

class Exit { constructor(code) { this.code = code; } }

function system(args, input, told) {
    const words = ['carom-play', ...args].map(w => encoder.encode(`${w}\0`)), out = [];
    let memory = null, at = 0, line = '';
    const view = () => new DataView(memory.buffer), bytes = () => new Uint8Array(memory.buffer);
    const complain = text => {
        const lines = (line + text).split('\n');
        line = lines.pop();
        for (const l of lines) try { told(JSON.parse(l)); } catch { told({ wrong: l }); }
    };
    const each = (list, n, f) => {
        let sum = 0;
        for (let i = 0; i < n; ++i) {
            const start = view().getUint32(list + 8 * i, true), length = view().getUint32(list + 8 * i + 4, true), done = f(start, length);
            sum += done;
            if (done < length) break;
        }
        return sum;
    };
    const BAD_STREAM = 8, PIPE = 29;
    const imports = {
        args_sizes_get(count, size) { view().setUint32(count, words.length, true); view().setUint32(size, words.reduce((n, w) => n + w.length, 0), true); return 0; },
        args_get(list, text) {
            for (const w of words) { view().setUint32(list, text, true); bytes().set(w, text); list += 4; text += w.length; }
            return 0;
        },
        environ_sizes_get(count, size) { view().setUint32(count, 0, true); view().setUint32(size, 0, true); return 0; },
        environ_get() { return 0; },
        clock_time_get(id, precision, time) { view().setBigUint64(time, BigInt(Math.round(performance.now() * 1e6)), true); return 0; },
        fd_close() { return 0; },
        fd_seek() { return PIPE; },
        fd_fdstat_get(fd, stat) { bytes().fill(0, stat, stat + 24); view().setUint8(stat, 2); return fd < 3 ? 0 : BAD_STREAM; },
        fd_read(fd, list, n, size) {
            if (fd !== 0) return BAD_STREAM;
            const sum = each(list, n, (start, length) => { const part = input.subarray(at, at + length); bytes().set(part, start); at += part.length; return part.length; });
            view().setUint32(size, sum, true);
            return 0;
        },
        fd_write(fd, list, n, size) {
            if (fd !== 1 && fd !== 2) return BAD_STREAM;
            const sum = each(list, n, (start, length) => { const part = bytes().slice(start, start + length); if (fd === 1) out.push(part); else complain(decoder.decode(part)); return length; });
            view().setUint32(size, sum, true);
            return 0;
        },
        proc_exit(code) { throw new Exit(code); },
    };
    return { imports, use: m => { memory = m; }, out };
}

/** One call: exit status and standard output; told: of what it says meanwhile, {progress} or {wrong}. */
export async function call(module, args, text, told) {
    const s = system(args, encoder.encode(text), told);
    let code = 0;
    try {
        const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: s.imports });
        s.use(instance.exports.memory);
        instance.exports._start();
    } catch (e) {
        code = e instanceof Exit ? e.code : 70;
        if (!(e instanceof Exit)) told({ wrong: `simulation engine stopped (${e.message}); the model may be too large for the browser` });
    }
    return { code, out: decoder.decode(await new Blob(s.out).arrayBuffer()) };
}
