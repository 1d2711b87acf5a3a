// link.js: what is open, as the end of a link: JSON, deflated, in the letters of base64 that a link may hold.

const MOST = 1 << 23; // bytes of a model; a link of some hundred kilobytes could unpack to gigabytes

async function through(bytes, stream) {
    const parts = [], reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
    for (let length = 0, x = await reader.read(); !x.done; x = await reader.read()) {
        if ((length += x.value.length) > MOST) throw new RangeError('too long');
        parts.push(x.value);
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
}

export async function pack(state) {
    const bytes = await through(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream('deflate-raw'));
    let text = '';
    for (const b of bytes) text += String.fromCharCode(b);
    return `#m=${btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

/** What the link holds; null: nothing, or nothing that can be read. */
export async function unpack(hash) {
    if (!hash.startsWith('#m=')) return null;
    try {
        const bytes = Uint8Array.from(atob(hash.slice(3).replaceAll('-', '+').replaceAll('_', '/')), c => c.charCodeAt(0));
        const state = JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw'))));
        if (typeof state.text !== 'string') return null;
        const numbers = Object.entries(state.values ?? {}).filter(([, x]) => Number.isFinite(x));
        const settings = Object.entries(state).filter(([k, x]) => k === 'values' || typeof x === 'string'); // objects have ways of their own to become text
        return { ...Object.fromEntries(settings), values: Object.fromEntries(numbers) };
    } catch {
        return null;
    }
}
