#!/usr/bin/env python3
"""Equations of the site: what tools/equations.py makes of a line, and that all equations of the pages are well-formed.

usage: test/equations.py SOURCE
"""
import glob
import os
import re
import sys
import xml.etree.ElementTree as tree

source = sys.argv[1]
sys.path.insert(0, os.path.join(source, "tools"))
sys.dont_write_bytecode = True
import equations  # noqa: E402

HERE = {"msup": "^", "msub": "_", "msubsup": "_^"}
failures = 0


def plain(node):
    """MathML as text: a^T for a transpose, u^' for a rate."""
    parts = [plain(child) for child in node]
    if node.tag == "mspace":
        return " "
    if node.tag == "msubsup":
        return f"{parts[0]}_{parts[1]}^{parts[2]}"
    if node.tag in HERE:
        return HERE[node.tag].join(parts)
    return (node.text or "") + "".join(parts)


def fault(text):
    global failures
    failures += 1
    print(text)


for line, expected in [
    ("Coulomb's law of (u_T, p_T)", "Coulomb\u2019s law of (u_T, p_T)"),
    ("Newton's and Coulomb's law", "Newton\u2019s and Coulomb\u2019s law"),
    ("the contact's own law; 1 in w_k's row", "the contact\u2019s own law; 1 in w_k\u2019s row"),
    ("W's + kappa", "W^Ts + \u03ba"),  # a transpose times s
    ("u = W_1'v + w", "u = W_1^Tv + w"),
    ("M v' = f", "M v^\u2032 = f"),  # a rate
    ("stages by (MX-1), M-1", "stages by (MX-1), M\u22121"),  # the tag of an equation
    ("(K + C)'x", "(K + C)^Tx"),
]:
    got = plain(tree.fromstring(f"<math>{equations.row(line)}</math>"))
    if got != expected:
        fault(f"{line}: {got}, expected {expected}")

shown = 0
for page in sorted(glob.glob(os.path.join(source, "docs", "*.md"))):
    with open(page, encoding="utf-8") as f:
        text, _ = equations.convert(f.read())
    for math in re.findall("<math>.*?</math>", text):
        shown += 1
        try:
            words = plain(tree.fromstring(math))
        except tree.ParseError as error:
            fault(f"{page}: {error}: {math}")
            continue
        wrong = re.search(r"[A-Za-z]{3,}\^T", words)
        if wrong:
            fault(f"{page}: '{wrong.group()}' in '{words}': a word is no matrix")
for line, text in [("after a step", True), ("a_n = a mu", False), ("a the distance", False), ("materials a and b", False)]:
    if ("<mtext>a</mtext>" in equations.row(line)) != text:
        fault(f"{line}: 'a' is {'a symbol' if text else 'a word'}")
print(f"{shown} equations, {failures} wrong")
sys.exit(failures > 0 or shown == 0)
