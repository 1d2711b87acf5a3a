"""Every snippet of docs/python.md and every cell of the notebooks runs, and what a line says it gives is what it gives."""
import ast
import contextlib
import inspect
import io
import json
import os
import re
import unittest

from common import ROOT, Case, carom


class Docs(Case):
    def setUp(self):
        super().setUp()
        here = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, here)

    def check(self, text, said, names):
        try:
            found = eval(text, names)
        except Exception as e:
            raise AssertionError(f"docs/python.md: {text.strip()}: {e!r}")
        self.assertEqual(repr(found), said, f"docs/python.md: {text.strip()}")

    def test_what_the_package_shows_is_described_and_typed(self):
        for name in carom.__all__:
            thing = getattr(carom, name)
            self.assertTrue(thing.__doc__, name)
            parts = [(name, thing)] if inspect.isfunction(thing) else [(f"{name}.{k}", x.fget if isinstance(x, property) else x) for k, x in vars(thing).items()
                                                                        if not k.startswith("_") and (inspect.isfunction(x) or isinstance(x, property))]
            if name in ("Model", "Page", "Result", "Simulation") or inspect.isfunction(thing):
                for part, f in parts:
                    if part not in ("Model.sizes", "Model.simulation"):
                        self.assertIsNot(inspect.signature(f).return_annotation, inspect.Signature.empty, part)
        self.assertTrue((ROOT / "python/carom/py.typed").exists())

    def test_snippets_do_what_they_say(self):
        names, checked = {"__name__": "snippets", "_check": self.check}, 0
        for block in re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/python.md").read_text(), re.M | re.S):
            lines = []
            for line in block.splitlines():
                found = re.fullmatch(r"(\s*)(.*\S)\s+# -> (.*)", line)
                if found:
                    line = f"{found[1]}_check({found[2]!r}, {found[3]!r}, {{**globals(), **locals()}})"
                    checked += 1
                lines.append(line)
            exec(compile("\n".join(lines), "docs/python.md", "exec"), names)
        self.assertGreater(checked, 15)

    def test_notebooks_run(self):
        books = sorted((ROOT / "python/notebooks").glob("*.ipynb"))
        self.assertTrue(books)
        os.environ.setdefault("MPLBACKEND", "Agg")
        for book in books:
            content, names, shown = json.loads(book.read_text()), {"__name__": "notebook"}, 0
            self.assertEqual(content["nbformat"], 4)
            for cell in content["cells"]:
                if cell["cell_type"] != "code":
                    continue
                self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))
                tree = ast.parse("".join(cell["source"]), book.name)
                last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(tree, book.name, "exec"), names)
                value = eval(compile(last, book.name, "eval"), names) if last else None
                shown += len(value._repr_html_()) > 100 if hasattr(value, "_repr_html_") else 0
            self.assertGreaterEqual(shown, 4)


if __name__ == "__main__":
    unittest.main()
