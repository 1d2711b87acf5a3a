#!/usr/bin/env python3
"""What a page of docs/ quotes of a study: the rows of its tables, and the data behind its pictures.

usage: tools/quotes.py renew PAGE.md FOLDER     write the rows that the study prints into the page, and the data of its pictures
       tools/quotes.py data PAGE.md FOLDER      exit status 1: the pictures of the page show other data
FOLDER is what studies/NAME.sh has written.  A table of the page whose head is that of a table in FOLDER/report.md gets
its rows; rows and columns (not the first) that the page leaves out stay out.  studies/data/NAME.md holds all tables of a
study and is renewed with its page.  Computing times alone are no reason to change a table.  The check of the tables is
test/pages.awk.
Of the data of pictures, all .csv of FOLDER, studies/data/NAME.txt keeps the least, the largest and the mean value of each column; pictures are drawn
from the same files, so both are renewed together (make docs).
"""
import math
import os
import re
import sys

FACTOR = 5  # of computing times, as in test/pages.awk
ROUNDING = 1e-9  # what is smaller is rounding, as in test/pages.awk
WIDE = 12  # columns; of wider files those that a picture shows
DIGITS = 1e-2  # of the largest value of a column
TIMES = re.compile(r"time|cost|ns per|\(us\)")  # heads of columns of computing times, as in test/pages.awk
CLOCK = re.compile(r"cpu|seconds|wall|time|us_per_step", re.I)  # columns of CSV files that the clock decides


def cells(line):
    return [c.strip() for c in line.strip().strip("|").split("|")]


def tables(lines):
    """(head, line of the head, {line: cells}) of every table."""
    found, at = [], 0
    while at < len(lines):
        if lines[at].startswith("|") and at + 1 < len(lines) and re.match(r"^\|[-| :]+\|?$", lines[at + 1]):
            head, rows, first = cells(lines[at]), {}, at
            at += 2
            while at < len(lines) and lines[at].startswith("|"):
                rows[at] = cells(lines[at])
                at += 1
            found.append((head, first, rows))
        else:
            at += 1
    return found


def number(text):
    match = re.fullmatch(r"[*`]*([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)( ?%)?[*`]*", text)
    return (float(match[1]), match[1]) if match else None


def last_place(text):
    mantissa, _, exponent = text.lower().partition("e")
    return 10.0 ** (int(exponent or 0) - (len(mantissa.split(".")[1]) if "." in mantissa else 0))


def same(a, b, clock):
    if a == b:
        return True
    x, y = number(a), number(b)
    if not x or not y:
        return clock
    if clock:
        return x[0] * y[0] > 0 and 1 / FACTOR <= x[0] / y[0] <= FACTOR
    if abs(x[0]) < ROUNDING and abs(y[0]) < ROUNDING:
        return True
    return abs(x[0] - y[0]) <= 1.01 * last_place(x[1])  # the last digit may differ from machine to machine


def partner(row, rows):
    """The row of the report with the same name: as many leading cells as tell it from the others."""
    for n in range(1, len(row)):
        match = [r for r in rows if r[:n] == row[:n]]
        if len(match) == 1:
            return match[0]
        if not match:
            return None
    return match[0] if match else None


def project(head, wide):
    """Where the cells of a head are in a wider one with the same first cell, in order; None: it is another table."""
    at, places = 0, []
    for cell in head:
        if cell not in wide[at:] or (not places and cell != wide[0]):
            return None
        places.append(wide.index(cell, at))
        at = places[-1] + 1
    return places


def renew(page, lines, report, changes):
    """New lines of the page; what is renewed is added to changes."""
    out = list(lines)
    known = [(head, list(rows.values())) for head, _, rows in tables(report)]
    for head, first, rows in tables(lines):
        sources = [r for h, r in known if h == head]
        if not sources:  # a table with fewer columns
            fits = [(project(head, h), r) for h, r in known]
            sources = [[[row[k] for k in places] for row in r] for places, r in fits if places]
        if not sources:
            continue
        pool, changed, new = [r for s in sources for r in s], False, {}
        for at, row in rows.items():
            other = partner(row, pool)
            if other is None:
                changes.append(f"{page}:{at + 1}: the study prints no row '{' | '.join(row[:2])}'; remove it by hand")
                continue
            new[at], clock = other, False
            for k, (a, b) in enumerate(zip(row, other)):
                title = head[k] if k < len(head) else ""
                clock = bool(TIMES.search(title)) if title else clock  # a cell without a name belongs to the one before
                if not same(a, b, clock):
                    changes.append(f"{page}:{at + 1}: {head[k] if k < len(head) else ''} of {row[0]}: {a} becomes {b}")
                    changed = True
        if changed:
            for at, row in new.items():
                out[at] = "| " + " | ".join(row) + " |"
    return out


def drawn():
    """Names in the scripts of gnuplot, so that wide files need not be kept whole."""
    studies = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "studies")
    names = set()
    for script in os.listdir(studies):
        if script.endswith(".gp"):
            with open(os.path.join(studies, script), encoding="utf-8") as f:
                names.update(re.findall(r'"([^"]+)"', f.read()))
    return names


def summary(folder):
    text, wanted = [], drawn()
    for name in sorted(f for f in os.listdir(folder) if f.endswith(".csv") and not f.endswith(".events.csv")):
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as f:
            head = f.readline().rstrip("\n").split(",")
            names = any(not number(h) for h in head)
            columns = [[math.inf, -math.inf, 0.0, 0] for _ in head]
            for line in ([] if names else [",".join(head)]) + list(f):
                for c, value in zip(columns, line.rstrip("\n").split(",")):
                    try:
                        x = float(value)
                    except ValueError:
                        continue
                    if math.isfinite(x):
                        c[0], c[1], c[2], c[3] = min(c[0], x), max(c[1], x), c[2] + x, c[3] + 1
        for k, c in enumerate(columns):
            title = head[k] if names else str(k + 1)
            if c[3] and not CLOCK.search(title) and (len(head) <= WIDE or title in wanted):
                text.append(f"{name} {title.replace(' ', '_')} {c[0]:.5g} {c[1]:.5g} {c[2] / c[3]:.5g}")
    return text


def compare_data(file, new, faults):
    try:
        with open(file, encoding="utf-8") as f:
            old = dict((tuple(line.split()[:2]), [float(x) for x in line.split()[2:]]) for line in f)
    except OSError:
        faults.append(f"{file}: there are no data of the pictures")
        return
    now = dict((tuple(line.split()[:2]), [float(x) for x in line.split()[2:]]) for line in new)
    for key in sorted(set(old) | set(now)):
        if key not in old or key not in now:
            faults.append(f"{file}: {' '.join(key)} is {'new' if key in now else 'gone'}")
            continue
        size = max(abs(x) for x in old[key])
        if any(abs(a - b) > max(DIGITS * size, ROUNDING) for a, b in zip(old[key], now[key])):
            faults.append(f"{file}: {' '.join(key)}: {old[key]} was drawn, the study has {now[key]}")


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("renew", "data"):
        sys.exit(__doc__)
    action, page, folder = sys.argv[1:]
    file = os.path.join(os.path.dirname(page), "..", "studies", "data", os.path.basename(page)[:-3].removeprefix("study-") + ".txt")
    data, said = summary(folder), []
    if action == "renew":
        with open(os.path.join(folder, "report.md"), encoding="utf-8") as f:
            report = f.read().split("\n")
        for quoting in (page, file.removesuffix(".txt") + ".md"):
            if os.path.exists(quoting):
                with open(quoting, encoding="utf-8") as f:
                    lines = renew(quoting, f.read().split("\n"), report, said)
                with open(quoting, "w", encoding="utf-8") as f:
                    f.write("\n".join(lines))
        with open(file, "w", encoding="utf-8") as f:
            f.writelines(line + "\n" for line in data)
    else:
        compare_data(file, data, said)
    for line in said:
        print(line)
    sys.exit(1 if said and action == "data" else 0)


if __name__ == "__main__":
    main()
