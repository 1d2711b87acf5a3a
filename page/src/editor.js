// editor.js: a text area over a copy of its text, in which places that are wrong are underlined.

export class Editor {
    constructor(box, changed) {
        box.classList.add('editor');
        box.innerHTML = '<pre aria-hidden="true"></pre><textarea spellcheck="false" autocapitalize="off" autocomplete="off" aria-label="model" wrap="off"></textarea>';
        [this.copy, this.area] = box.children;
        this.marks = [];
        this.area.addEventListener('input', () => { this.marks = []; this.draw(); changed(); });
        this.area.addEventListener('scroll', () => this.follow());
        this.area.addEventListener('keydown', e => {
            if (e.key !== 'Tab' || e.shiftKey) return;
            e.preventDefault();
            document.execCommand('insertText', false, '  ');
        });
    }

    get text() { return this.area.value; }
    set text(text) { this.area.value = text; this.marks = []; this.draw(); this.area.scrollTop = 0; }

    /** marks: {line, column, text}, from 1. */
    mark(marks) { this.marks = marks; this.draw(); }

    draw() {
        const lines = this.text.split('\n');
        this.copy.replaceChildren(...lines.map((line, i) => {
            const row = document.createElement('span'), m = this.marks.find(x => x.line === i + 1);
            row.className = m ? 'row wrong' : 'row';
            if (!m) { row.textContent = `${line}\n`; return row; }
            const at = Math.min(m.column - 1, Math.max(line.length - 1, 0)), word = /^[\w.'-]+|^./.exec(line.slice(at))?.[0] ?? ' ', u = document.createElement('u');
            u.textContent = word;
            u.title = m.text;
            row.append(line.slice(0, at), u, `${line.slice(at + word.length)}\n`);
            return row;
        }));
        this.follow();
    }

    follow() { this.copy.style.transform = `translate(${-this.area.scrollLeft}px, ${-this.area.scrollTop}px)`; }
}
