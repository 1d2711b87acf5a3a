"""The page of `carom view`, shown in a notebook or opened in a browser."""
from __future__ import annotations

import html
import os
import pathlib
import shutil
import subprocess
import tempfile
import webbrowser

from . import _library as c
from ._library import Path


def program():
    """The program `carom`: that of CAROM_PROGRAM, beside this package, beside the library, or on the PATH."""
    given = os.environ.get("CAROM_PROGRAM")
    library = pathlib.Path(c.library_path())
    places = [given] if given else [pathlib.Path(__file__).parent / "bin" / "carom", library.parent / "carom", library.parent.parent / "bin" / "carom"]
    found = next((str(p) for p in places if os.access(p, os.X_OK)), None) or (None if given else shutil.which("carom"))
    if not found:
        raise c.FileError("the program carom, which writes pages, was not found; set CAROM_PROGRAM to it")
    return found


class Page(c.Made):
    """One self-contained HTML file.  A notebook shows it; save() and open() are for the rest."""
    _made_by = "Result.view()"

    def _set_up(self, text, height):
        self.html, self.height = text, height

    def save(self, file: Path) -> Page:
        """Write it under this name."""
        pathlib.Path(file).write_text(self.html, encoding="utf-8")
        return self

    def open(self) -> str:
        """Show it in the browser; the name of the file, which stays."""
        with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as f:
            f.write(self.html)
        webbrowser.open(pathlib.Path(f.name).as_uri())
        return f.name

    def _repr_html_(self):
        return f'<iframe srcdoc="{html.escape(self.html)}" width="100%" height="{int(self.height)}" style="border:0"></iframe>'

    def __repr__(self):
        return f"<carom.Page of {len(self.html) / 1e6:.1f} MB: save(file) or open()>"


def call(result, arguments):
    """The program on the file of a result, which is written first where there is none; arguments(source, folder) gives the words."""
    with tempfile.TemporaryDirectory() as folder:
        source = result.file if result.file and result.file.endswith(".h5") else os.path.join(folder, "result.h5")
        if source != result.file:
            result.save(source)
        words, answer = arguments(source, folder)
        done = subprocess.run([program(), *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise c.FileError(done.stderr.strip())
        return answer()


def page(result, rows=None, height=640):
    def arguments(source, folder):
        out = os.path.join(folder, "page.html")
        return ["view", source, "-o", out, *(["--rows", str(int(rows))] if rows else [])], lambda: Page._make(pathlib.Path(out).read_text(encoding="utf-8"), height)
    return call(result, arguments)


def vtk(result, file, rows=None, start=None, end=None):
    file = os.fspath(file)
    given = [("--rows", rows), ("--from", start), ("--to", end)]
    return call(result, lambda source, folder: (["export", "vtk", source, "-o", file, *(str(x) for pair in given if pair[1] is not None for x in pair)], lambda: file))
