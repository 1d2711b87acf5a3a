// editor.js: the text of a model, with colours, places that are wrong underlined, and keys that may stand where one writes.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { HighlightStyle, StreamLanguage, bracketMatching, indentService, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, ViewPlugin, drawSelection, highlightActiveLine, keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { Schema, context } from './context.js';

// Enough of YAML for models: keys, numbers with units, texts, names in expressions, comments.
const yaml = StreamLanguage.define({
    name: 'model',
    startState: () => ({}),
    token(s) {
        if (s.eatSpace()) return null;
        if ((s.sol() || /\s/.test(s.string[s.pos - 1] ?? ' ')) && s.match(/^#.*/)) return 'comment';
        if (s.match(/^("[^"]*"|'[^']*'(?!\w))(?=\s*:(\s|$))/) || s.match(/^[A-Za-z_][\w .()[\]-]*'?(?=:(\s|$))/)) return 'propertyName';
        if (s.match(/^("(?:[^"\\]|\\.)*"|'[^'\n]*'(?![\w]))/)) return 'string';
        if (s.match(/^(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?/)) return 'number';
        if (s.match(/^[A-Za-z_][\w.]*(?=\()/)) return 'function';
        if (s.match(/^[A-Za-z_][\w.]*'*/)) return 'name';
        if (s.match(/^[-+*/^<>=!&|]+/)) return 'operator';
        s.next();
        return 'punctuation';
    },
    languageData: { commentTokens: { line: '#' } },
    tokenTable: { comment: tags.comment, propertyName: tags.propertyName, string: tags.string, number: tags.number, function: tags.function(tags.variableName), name: tags.variableName, operator: tags.operator, punctuation: tags.punctuation },
});
const colours = HighlightStyle.define([
    { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' }, { tag: tags.propertyName, color: 'var(--accent)', fontWeight: '550' }, { tag: tags.number, color: 'var(--number)' },
    { tag: tags.string, color: 'var(--text)' }, { tag: tags.function(tags.variableName), color: 'var(--call)' }, { tag: [tags.operator, tags.punctuation], color: 'var(--muted)' },
]);

// A new line is as far in as the one before, and farther behind a key alone.
const indent = indentService.of((c, at) => {
    const { text } = c.lineAt(at, -1), before = /^ */.exec(text)[0].length;
    return /:\s*(#.*)?$/.test(text) ? before + c.unit : before;
});

// A line carries its number itself (play.css draws it): a gutter is laid out by measured heights, which are old until a
// text that wraps anew comes into view, and numbers then stand beside other lines.
const numbered = view => {
    const { doc } = view.state, found = [];
    for (const { from, to } of view.visibleRanges)
        for (let n = doc.lineAt(from).number, last = doc.lineAt(to).number; n <= last; ++n) found.push(Decoration.line({ attributes: { 'data-line': String(n) } }).range(doc.line(n).from));
    return Decoration.set(found);
};
const numbers = [
    ViewPlugin.define(view => ({ lines: numbered(view), update(u) { if (u.docChanged || u.viewportChanged) this.lines = numbered(u.view); } }), { decorations: p => p.lines }),
    EditorView.editorAttributes.of(view => ({ style: `--digits: ${String(view.state.doc.lines).length}` })),
];

const setMarks = StateEffect.define();
const marks = StateField.define({
    create: () => Decoration.none,
    update(set, change) {
        for (const e of change.effects) if (e.is(setMarks)) return e.value;
        return change.docChanged ? Decoration.none : set;
    },
    provide: f => EditorView.decorations.from(f),
});

const calls = ['sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'atan2', 'sinh', 'cosh', 'tanh', 'exp', 'log', 'sqrt', 'abs', 'sign', 'min', 'max', 'hypot'];

export class Editor {
    /** changed(): somebody wrote; words(key): what may stand behind a key, or null. */
    constructor(box, schema, changed, words) {
        this.schema = new Schema(schema);
        this.words = words;
        this.box = box;
        this.view = new EditorView({ parent: box, state: this.state('') });
        this.changed = changed;
        box.classList.add('editor');
    }

    state(doc) {
        return EditorState.create({
            doc, extensions: [
                numbers, history(), drawSelection(), highlightActiveLine(), bracketMatching(), closeBrackets(), indentUnit.of('  '), EditorState.tabSize.of(2), EditorView.lineWrapping,
                yaml, indent, syntaxHighlighting(colours), marks, autocompletion({ override: [c => this.complete(c)], icons: false }),
                keymap.of([...closeBracketsKeymap, ...defaultKeymap.filter(k => k.key !== 'Mod-Enter'), ...historyKeymap, ...completionKeymap, indentWithTab]),
                EditorView.contentAttributes.of({ 'aria-label': 'model', spellcheck: 'false', autocapitalize: 'off' }),
                EditorView.updateListener.of(u => { if (u.docChanged) this.changed(); }),
            ],
        });
    }

    get text() { return this.view.state.doc.toString(); }
    set text(text) {
        const focus = this.view.hasFocus;
        this.view.destroy(); // with a list of completions that may still want to know where it stands in the old text
        this.view = new EditorView({ parent: this.box, state: this.state(text) });
        if (focus) this.view.focus();
    }

    /** list: {line, column, text}, from 1. */
    mark(list) {
        const { doc } = this.view.state, found = [];
        for (const m of list) {
            if (m.line < 1 || m.line > doc.lines) continue;
            const line = doc.line(m.line), at = Math.min(m.column - 1, Math.max(line.length - 1, 0)), length = (/^[\w.'-]+|^./.exec(line.text.slice(at))?.[0] ?? '').length;
            found.push(Decoration.line({ class: 'wrong', attributes: { title: m.text } }).range(line.from));
            if (length) found.push(Decoration.mark({ tagName: 'u', attributes: { title: m.text } }).range(line.from + at, line.from + at + length));
        }
        this.view.dispatch({ effects: setMarks.of(Decoration.set(found, true)) });
    }

    complete(c) {
        const here = context(c.state.sliceDoc(0, c.pos));
        if (!here || (!here.word && !c.explicit)) return null;
        if (here.key === null) {
            const options = this.schema.keys(here).map(k => ({ label: k.name, info: k.about || undefined, apply: `${k.name}: `, type: 'property' }));
            return options.length ? { from: here.from, options, validFor: /^[\w .-]*$/ } : null;
        }
        const from = here.from + here.word.lastIndexOf(' ') + 1, given = this.words(here.key);
        if (given) return { from, options: given.map(([label, info]) => ({ label, info: info || undefined })), validFor: /^[\w.-]*$/ };
        const names = new Set([...this.text.matchAll(/(?:^|[{,])\s*([A-Za-z_][\w.]*)(?=:\s)/gm)].map(m => m[1]).filter(n => n !== here.word));
        return { from, options: [...[...names].map(label => ({ label })), ...calls.map(label => ({ label, apply: `${label}(`, detail: '(' }))], validFor: /^[\w.]*$/ };
    }
}
