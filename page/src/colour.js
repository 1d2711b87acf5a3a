// colour.js: colours that people with any colour vision can tell apart (after Okabe and Ito), for light and dark ground.
const light = { blue: '#0072b2', orange: '#d98a00', green: '#009e73', red: '#d55e00', purple: '#b2559a', sky: '#3d9bd6', yellow: '#b8a800', grey: '#7d8794' };
const dark = { blue: '#4da3e0', orange: '#f0ae3c', green: '#2cc49b', red: '#ff7a45', purple: '#dd94c9', sky: '#86ccf7', yellow: '#e8dc55', grey: '#8a95a5' };
export const order = ['blue', 'orange', 'green', 'purple', 'sky', 'yellow', 'red'];

export const theme = { dark: false };

export function colour(name) {
    return name && name[0] === '#' ? name : (theme.dark ? dark : light)[name] || (theme.dark ? dark : light).grey;
}

export const nth = i => colour(order[i % order.length]);

/** Which colour a shape gets that names none: shapes of one body share theirs; null: grey. */
export function dealer() {
    const bodies = new Map();
    let next = 0;
    return s => {
        if (['wall', 'point', 'spring'].includes(s.figure)) return null;
        if (!s.of) return next++;
        if (!bodies.has(s.of)) bodies.set(s.of, next++);
        return bodies.get(s.of);
    };
}

export const ground = () => theme.dark ? '#12161c' : '#ffffff';
export const ink = () => theme.dark ? '#d7dee8' : '#1f2733';
export const muted = () => theme.dark ? '#8593a6' : '#667085';
export const faint = () => theme.dark ? '#232a34' : '#e8ecf1';
export const hit = () => theme.dark ? '#ff7a45' : '#d54a00';

function parse(c) {
    return [1, 3, 5].map(i => parseInt(c.slice(i, i + 2), 16));
}

/** a share s of colour b in a. */
export function mix(a, b, s) {
    const x = parse(a), y = parse(b);
    return '#' + x.map((v, i) => Math.round(v + s * (y[i] - v)).toString(16).padStart(2, '0')).join('');
}

export function alpha(c, s) {
    const [r, g, b] = parse(c);
    return `rgba(${r},${g},${b},${s})`;
}
