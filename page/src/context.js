// context.js: where in a model file is this place?  And what may stand there, after the JSON schema of model files.

/**
 * Of text up to a place: path, the keys that lead to the map around it; siblings, the keys which that map has before it; key, whose value is being written (null: a key is);
 * word, what is being written, and from, where it begins.  Block style by indentation, flow style by brackets; lists add nothing to the path.
 */
export function context(text) {
    const stack = [{ indent: -1, key: null, keys: [] }], top = () => stack[stack.length - 1];
    let i = 0, start = true, indent = 0, from = 0, flow = 0;
    const name = s => s.trim().replace(/^["']|["']$/g, '');
    const enter = key => { top().keys.push(key); top().key = key; };
    while (i < text.length) {
        if (start && !flow) {
            const m = /^[ ]*(?:- +)*/.exec(text.slice(i));
            start = false;
            if (/^\s*(#|\n|$)/.test(text.slice(i + m[0].length)) && !/^[ ]*$/.test(text.slice(i))) { // nothing here: the indentation does not count
                i = text.indexOf('\n', i);
                if (i < 0) return null; // in a comment
                ++i, from = i, start = true;
                continue;
            }
            indent = m[0].length;
            i += m[0].length;
            from = i;
            while (stack.length > 1 && top().indent >= indent && top().indent > indent) stack.pop();
            if (top().indent < indent && (top().key !== null || stack.length === 1)) stack.push({ indent, key: null, keys: [] });
            top().key = null;
            continue;
        }
        const c = text[i];
        if (c === '"' || c === "'") {
            const end = text.indexOf(c, i + 1);
            if (end < 0) break;
            i = end + 1;
            continue;
        }
        if (c === '#' && (i === 0 || /\s/.test(text[i - 1]))) {
            const end = text.indexOf('\n', i);
            if (end < 0) return null;
            i = end;
            continue;
        }
        if (c === '\n') start = true, from = i + 1;
        else if (c === ':' && top().key === null && /^(\s|$)/.test(text.slice(i + 1, i + 2)) && top().list !== true) enter(name(text.slice(from, i))), from = i + 1;
        else if (c === '{') stack.push({ indent: Infinity, key: null, keys: [] }), ++flow, from = i + 1;
        else if (c === '[') stack.push({ indent: Infinity, key: null, keys: [], list: true }), ++flow, from = i + 1;
        else if ((c === '}' || c === ']') && flow) stack.pop(), --flow, from = i + 1;
        else if (c === ',' && flow) top().list || (top().key = null), from = i + 1;
        ++i;
    }
    const word = /[\w.-]*(?: [\w.-]+)?$/.exec(text.slice(from))[0].trimStart(), here = top();
    const path = stack.slice(0, -1).filter(s => s.key !== null).map(s => s.key);
    return { path, siblings: here.keys, key: here.list ? '' : here.key, word, from: text.length - word.length };
}

export class Schema {
    constructor(json) { this.json = json; }

    resolve(s) { return s?.$ref ? this.json.$defs[s.$ref.slice(8)] : s; }

    /** Maps that may stand in the place of s: with their properties. */
    maps(s) {
        s = this.resolve(s);
        if (!s) return [];
        if (s.anyOf || s.allOf) return (s.anyOf || s.allOf).flatMap(x => this.maps(x));
        return s.properties || typeof s.additionalProperties === 'object' ? [s] : [];
    }

    /** Keys for a place: name and description.  Variants whose needed keys are there come alone. */
    keys({ path, siblings }) {
        let maps = this.maps(this.json);
        for (const key of path) maps = maps.flatMap(m => this.maps(m.properties?.[key] ?? (typeof m.additionalProperties === 'object' ? m.additionalProperties : null)));
        const begun = maps.filter(m => m.required?.every(k => siblings.includes(k))), seen = new Map();
        for (const m of begun.length ? begun : maps)
            for (const [name, p] of Object.entries(m.properties ?? {})) if (!siblings.includes(name) && !seen.has(name)) seen.set(name, { name, about: p.description ?? '' });
        return [...seen.values()];
    }
}
