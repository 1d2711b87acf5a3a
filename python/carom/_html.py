"""Small pieces of HTML for notebooks, made without matplotlib."""
from html import escape

import numpy as np

MAIN = ("steps", "impacts", "penetration", "drift", "energy.start", "energy.end", "energy.balance", "contact.residual")
_colours = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")


def number(x):
    return f"{x:.6g}" if isinstance(x, float) else str(x)


def table(head, rows):
    cells = lambda tag, row: "<tr>" + "".join(f"<{tag}>{escape(str(x))}</{tag}>" for x in row) + "</tr>"
    return "<table>" + (cells("th", head) if any(head) else "") + "".join(cells("td", r) for r in rows) + "</table>"


def _thinned(t, x, most=400):
    """Lowest and highest of every stretch, so that peaks stay."""
    if len(t) <= 2 * most:
        return t, x
    cuts = np.linspace(0, len(t), most + 1).astype(int)
    at = sorted({int(i) for a, b in zip(cuts[:-1], cuts[1:]) if b > a for i in (a + np.argmin(x[a:b]), a + np.argmax(x[a:b]))})
    return t[at], x[at]


def curves(t, named, width=640, height=160):
    """Curves over t as one SVG; what is not finite is left out."""
    finite = [x[np.isfinite(x)] for _, x in named]
    finite = [x for x in finite if len(x)]
    if not finite or len(t) < 2 or not t[-1] > t[0]:
        return ""
    low, high = min(x.min() for x in finite), max(x.max() for x in finite)
    scale = (height - 20) / (high - low) if high > low else 0
    parts = []
    for i, (name, x) in enumerate(named):
        good = np.isfinite(x)
        s, y = _thinned(t[good], x[good])
        points = " ".join(f"{(a - t[0]) / (t[-1] - t[0]) * width:.1f},{height - 10 - (b - low) * scale:.1f}" for a, b in zip(s, y))
        colour = _colours[i % len(_colours)]
        parts.append(f'<polyline fill="none" stroke="{colour}" points="{points}"/>'
                     f'<text x="{8 + 90 * i}" y="12" font-size="12" fill="{colour}">{escape(name)}</text>')
    return f'<br><svg width="{width}" height="{height}" viewBox="0 0 {width} {height}">{"".join(parts)}</svg>'
