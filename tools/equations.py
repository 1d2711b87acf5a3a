#!/usr/bin/env python3
"""equations.py PAGE.md...: equations of the pages as MathML, in place, for the site.

The pages write equations as the code does: `u = W'v + w`, a tag (SYS-1) behind numbered ones.  Browsers show MathML by themselves, so the site needs no script for it.
Indented blocks with a tag become displays, one line each, and so does code between backticks that holds symbols and operators alone.  Blocks that are tables of
characters (matrices) stay as they are.
"""
import re
import sys

GREEK = {name: chr(code) for code, name in enumerate("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega".split(), 0x3b1)}
GREEK.update({name.capitalize(): chr(ord(sign) - 32) for name, sign in GREEK.items() if name != "sigmaf"}, eps="ε", gam="γ")
FUNCTIONS = {"sin", "cos", "tan", "atan", "exp", "log", "sqrt", "max", "min", "diag", "move", "lift", "skew", "law", "sign"}
LARGE = {"int": "∫", "sum": "∑"}
OPERATORS = {"<=": "≤", ">=": "≥", "!=": "≠", "<-": "←", "->": "→", "_|_": "⊥", "...": "…", "*": "⋅", "-": "−", "<": "<", ">": ">"}
TAG = re.compile(r"\(([A-Z]{2,5}-\d+[a-z]?)\)")
TOKEN = re.compile(r"""(?P<code>`[^`]*`)|(?P<space>\s+)|(?P<number>\d+(?:\.\d+)?(?:e[-+]?\d+)?)|(?P<term>[A-Z]{2,5}-\d+[a-z]?\b|[A-Za-z]{2,}(?:-[A-Za-z]{2,})+)|(?P<word>[A-Za-z]+)
    |(?P<operator>_\|_|<=|>=|!=|<-|->|\.\.\.|[-+*/=<>,;:.|!~'^_()\[\]{}]|.)""", re.X)
SUBSCRIPT = re.compile(r"_(\{[^}]*\}|\([^)]*\)|[A-Za-z0-9]+)")
ARTICLE = re.compile(r" (?!(?:the|and|or|is)\b)[a-z]{2,}\b")  # behind "a": a step, not a symbol
POSSESSIVE = re.compile(r"'s(?![A-Za-z0-9_^'])")  # behind a word of a sentence: Coulomb's law
POWER = re.compile(r"\^(\{[^}]*\}|\([^)]*\)|-?\d+/\d+|[-+]?[A-Za-z0-9]+|[-+])")


def safe(text):
    """Text that Markdown leaves alone."""
    return "".join(c if c.isalnum() and c.isascii() else f"&#{ord(c)};" for c in text)


def tag(name, text, **attributes):
    return f"<{name}{''.join(f' {k}={chr(34)}{v}{chr(34)}' for k, v in attributes.items())}>{text}</{name}>"


def operator(text, **attributes):
    return tag("mo", safe(OPERATORS.get(text, text)), **attributes)


def symbol(word):
    """What a word is; None: a word of a sentence."""
    if word in GREEK:
        return tag("mi", safe(GREEK[word]))
    if word in LARGE:
        return operator(LARGE[word], largeop="false")
    if len(word) == 1 or word in FUNCTIONS:
        return operator("∘") if word == "o" else tag("mi", word)
    if re.fullmatch("[dD][A-Za-z]", word) and word != "do":
        return tag("mrow", tag("mi", word[0]) + tag("mi", word[1]))
    return None


def inside(text):
    if re.fullmatch("[a-z]{2}", text):
        return tag("mi", text[0]) + tag("mi", text[1])
    return row(text[1:-1] if text[0] in "{(" else text, within=True)


def decorated(base, capital, text, at):
    """A symbol with the subscripts, powers, primes and tildes behind it; where it ends."""
    below = above = ""
    while at < len(text):
        sub, power = SUBSCRIPT.match(text, at), POWER.match(text, at)
        if sub and not text.startswith("_|_", at):
            below, at = below + inside(sub.group(1)), sub.end()
        elif power:
            above, at = above + inside(power.group(1)), power.end()
        elif text[at] == "'":
            if not capital and re.match(r"'s [a-z]{2,}\b", text[at:]) and symbol(text[at + 3:].split()[0]) is None:  # w_k's row
                break
            above, at = above + (tag("mi", "T", mathvariant="normal") if capital else operator("′")), at + 1
        elif text[at] == "~":
            base, at = tag("mover", base + operator("~"), accent="true"), at + 1
        elif text[at] in "+-*" and (at + 1 == len(text) or text[at + 1] in " ),;]'"):  # u+, u-: behind and before an impact
            above, at = above + operator(text[at]), at + 1
        else:
            break
    if below and above:
        return tag("msubsup", base + tag("mrow", below) + tag("mrow", above)), at
    return (tag("msub", base + tag("mrow", below)) if below else tag("msup", base + tag("mrow", above)) if above else base), at


def row(text, within=False):
    """MathML of a line."""
    out, at = [], 0
    while at < len(text):
        m = TOKEN.match(text, at)
        kind, word = m.lastgroup, m.group()
        at = m.end()
        if kind == "code":
            out.append(tag("mtext", safe(word[1:-1]), style="font-family:monospace"))
        elif kind == "term":
            out.append(tag("mtext", safe(word)))
        elif kind == "space":
            out.append(tag("mspace", "", width="2em" if len(word) > 2 and not within else "1em" if len(word) > 1 else "0.22em"))
        elif kind == "number":
            x, at = decorated(tag("mn", safe(word)), False, text, at)
            out.append(x)
        elif kind == "word":
            follows = ARTICLE.match(text, at) if word == "a" else None
            base = None if follows and symbol(follows.group().strip()) is None else symbol(word)
            owner = POSSESSIVE.match(text, at) if base is None else None
            if owner:
                out.append(tag("mtext", safe(word) + "&#8217;s"))
                at = owner.end()
                continue
            digits = re.match(r"\d+", text[at:]) if base and len(word) == 1 else None
            if base is None and not (at < len(text) and text[at] in "_^~'"):
                out.append(tag("mtext", safe(word)))
                continue
            base = base or tag("mi", safe(word))
            if digits:
                base, at = tag("msub", base + tag("mn", digits.group())), at + digits.end()
            x, at = decorated(base, word[0].isupper(), text, at)
            out.append(x)
            owner = POSSESSIVE.match(text, at)
            if owner:
                out.append(tag("mtext", "&#8217;s"))
                at = owner.end()
        elif word in ")]}|":
            base = operator(word, stretchy="false", **({"lspace": "0", "rspace": "0"} if word == "|" else {}))
            x, at = decorated(base, True, text, at) if at < len(text) and text[at] in "_^'" and not text.startswith("_|_", at) else (base, at)
            out.append(x)
        else:
            fence = word in "([{" or word == "'"
            out.append(operator(word, stretchy="false") if fence else operator(word, lspace="0", rspace="0") if word in "./" else operator(word))
    return "".join(out)


def display(line):
    found = list(TAG.finditer(line))
    label = found[0] if found and line[:found[0].start()].strip() == "" else found[-1] if found and line[found[-1].end():].strip() == "" else None
    body = (line[:label.start()] + line[label.end():]).strip() if label else line.strip()
    mark = f'<span class="tag" id="{label.group(1)}">({label.group(1)})</span>' if label else ""
    parts = "".join(f"<math>{row(part)}</math>" for part in re.split(r"\s{2,}", body))
    return f'<div class="equation"><span>{parts}</span>{mark}</div>'


def table_of_characters(block):
    return any(re.match(r"\s*\[ .* \]", line) for line in block)


def symbols_alone(code):
    """Is code between backticks an expression, not a name of the program?"""
    if re.search(r"\S=\S|--|::|[\"#\\@$%&]|\.\w{2,}|\w\.\s*$|/\w+/|^[a-z]+\(\)|^[./]", code) or not re.search("[A-Za-z]", code):
        return False
    bare = SUBSCRIPT.sub("", re.sub(r"_\|_", " ", code))
    return all(len(w) == 1 or w in GREEK or w in FUNCTIONS or w in LARGE or re.fullmatch("d[A-Za-z]", w) for w in re.findall("[A-Za-z]+", bare)) and not re.search(r"_[A-Za-z]{4,}|[A-Za-z]{2,}_[a-z]{3,}", code)


def inline(line):
    return re.sub(r"(?<!`)`([^`]+)`(?!`)", lambda m: f"<span><math>{row(m.group(1))}</math></span>" if symbols_alone(m.group(1)) else m.group(), line)


def convert(text):
    out, block, fenced, shown = [], [], False, 0

    def flush():
        nonlocal shown
        while block and not block[-1].strip():
            block.pop()
        if any(TAG.search(line) for line in block) and not table_of_characters(block):
            out.extend(["", *(display(line) for line in block if line.strip()), ""])
            shown += sum(1 for line in block if line.strip())
        else:
            out.extend(block)
        block.clear()

    for line in text.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
        indented = line.startswith("    ") and not fenced and not re.match(r"\s*[-*|] ", line)
        if indented and (block or not out or not out[-1].strip()):
            block.append(line)
            continue
        if block and not line.strip():
            block.append(line)
            continue
        blank = bool(block) and not block[-1].strip()
        flush()
        if blank:
            out.append("")
        out.append(line if fenced or line.startswith("```") or "|" in line and line.startswith("|") else inline(line))
    flush()
    return "\n".join(out), shown


def main(files):
    for file in files:
        with open(file, encoding="utf-8") as f:
            text = f.read()
        text, shown = convert(text)
        with open(file, "w", encoding="utf-8") as f:
            f.write(text)
        if shown == 0 and TAG.search(text) and "methods" in file:
            sys.exit(f"equations.py: {file}: no equation was found")


if __name__ == "__main__":
    main(sys.argv[1:])
