// panels.js: ledger, events, run and the model's text.
import { show, withUnit } from './data.js';

function element(name, className, ...children) {
    const e = document.createElement(name);
    if (className) e.className = className;
    e.append(...children);
    return e;
}

function table(rows) {
    const body = element('tbody');
    for (const [name, value, note] of rows)
        body.append(element('tr', '', element('th', '', name), element('td', 'number', value), element('td', 'note', note || '')));
    return element('table', 'facts', body);
}

const amount = (x, unit) => unit ? `${show(x)} ${unit}` : show(x);

export function ledger(holder, l, run, data) {
    if (!l) {
        holder.append(element('p', 'empty', 'This result has no ledger.'));
        return;
    }
    const card = (title, ...rows) => holder.append(element('h3', '', title), table(rows.filter(Boolean)));
    const e = l.energy, c = l.contact, n = l.newton, place = (where, t) => where ? `at ${where}, t = ${amount(t, data.unit('t'))}` : '';
    card(withUnit('Energy', data.unit('energy')), ['at the start', show(e.start)], ['at the end', show(e.end)], ['lost to impacts', show(e.impact)], ['lost to friction', show(e.friction)],
         ['lost to damping', show(e.damping)], ['external work', show(e.external)], ['unaccounted', show(e.balance), 'should be small compared with the others']);
    card('Contacts', ['impacts', String(l.impacts)], ['accumulations', String(l.accumulations)],
         ['largest penetration', amount(l.penetration, l.penetration_contact ? data.unit(`${l.penetration_contact}.gap`) : data.lengthUnit), place(l.penetration_contact, l.penetration_time)],
         l.drift_constraint ? ['largest drift', show(l.drift), place(l.drift_constraint, l.drift_time)] : null,
         ['contact problems', String(c.problems), `${c.iterations} iteration${c.iterations === 1 ? '' : 's'}, ${c.fallbacks} fallback${c.fallbacks === 1 ? '' : 's'}`],
         ['largest residual', show(c.residual), place(c.residual_constraint, c.residual_time)]);
    card('Work', ['steps', String(l.steps), l.rejected ? `${l.rejected} rejected` : ''], ['CPU time', `${show(l.seconds)} s`], ['per step', `${show(l.ns_per_step)} ns`],
         n && n.iterations > 0 ? ['Newton iterations', String(n.iterations), `at most ${n.max} in a step`] : null);
    const rows = Object.entries(run).filter(([k, v]) => v !== '' && !['name', 'message'].includes(k) && !(k === 'dt_out' && v === 0)).map(([k, v]) => [k.replace('_', ' '), typeof v === 'number' ? show(v) : v]);
    if (rows.length) card('Run', ...rows);
}

export function events(holder, data, seek) {
    const { events, page } = data, most = 2000;
    if (!events.count) {
        holder.append(element('p', 'empty', 'No events: no contact opened, closed or was hit.'));
        return;
    }
    const filter = element('select');
    filter.setAttribute('aria-label', 'kind of event');
    const counts = page.events.kinds.map((_, k) => events.kind.reduce((n, x) => n + (x === k), 0));
    filter.append(new Option(`all ${events.count} events`, ''), ...page.events.kinds.map((kind, k) => new Option(`${kind} (${counts[k]})`, String(k))));
    const body = element('tbody'), note = element('p', 'empty');
    const fill = () => {
        body.replaceChildren();
        let shown = 0, all = 0;
        for (let i = 0; i < events.count; ++i) {
            if (filter.value !== '' && String(events.kind[i]) !== filter.value) continue;
            ++all;
            if (shown >= most) continue;
            ++shown;
            const kind = page.events.kinds[events.kind[i]];
            const row = element('tr', kind === 'impact' ? 'hit' : '', ...[show(events.t[i]), page.events.contacts[events.contact[i]], kind, show(events.before[i]),
                                                                         show(events.after[i]), show(events.impulse[i])].map((x, k) => element('td', k === 1 || k === 2 ? '' : 'number', x)));
            row.tabIndex = 0;
            row.onclick = () => seek(events.t[i]);
            row.onkeydown = e => { if (e.key === 'Enter') seek(events.t[i]); };
            body.append(row);
        }
        note.textContent = (all > shown ? `The first ${shown} of ${all} are listed. ` : '') +
            (page.events.of > events.count ? `The run had ${page.events.of} events; this page lists the ${events.count} with the largest impulses.` : '');
    };
    filter.onchange = fill;
    // Contacts of shapes have the units that their columns have; those with a written gap may have others, and then none is named.
    const common = column => { const all = new Set(page.events.contacts.map(c => data.unit(`${c}.${column}`))); return all.size === 1 ? [...all][0] : ''; };
    const speed = common("gap'");
    const head = element('tr', '', ...[withUnit('t', data.unit('t')), 'contact', 'event', withUnit('before', speed), withUnit('after', speed), withUnit('impulse', common('impulse'))].map(x => element('th', '', x)));
    const holderTable = element('table', 'events', element('thead', '', head), body);
    holder.append(element('p', 'bar', filter), holderTable, note);
    fill();
}

// Comments, keys and the rest of a YAML text in colours.
export function model(holder, page) {
    if (!page.model) {
        holder.append(element('p', 'empty', 'This result does not contain its model.'));
        return;
    }
    const pre = element('pre');
    for (const line of page.model.split('\n')) {
        const cut = line.search(/(^|\s)#/), code = cut < 0 ? line : line.slice(0, cut), comment = cut < 0 ? '' : line.slice(cut);
        const key = /^(\s*)([^\s:#{[][^:{[]*)(:)(?=\s|$)/.exec(code);
        if (key) pre.append(key[1], element('b', '', key[2]), code.slice(key[1].length + key[2].length));
        else pre.append(code);
        if (comment) pre.append(element('i', '', comment));
        pre.append('\n');
    }
    const copy = element('button', 'more', 'copy');
    copy.onclick = () => navigator.clipboard?.writeText(page.model).then(() => { copy.textContent = 'copied'; });
    holder.append(element('p', 'bar', element('span', 'title', (page.run.model_file || 'the model').split('/').pop()), copy), pre);
}
