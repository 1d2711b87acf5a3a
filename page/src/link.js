// link.js: what is open, as the end of a link: JSON, deflated, in the letters of base64 that a link may hold.

const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

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
        return typeof state.text === 'string' ? state : null;
    } catch {
        return null;
    }
}
