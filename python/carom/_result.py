"""Results: columns as arrays, events, ledger; from memory or from a file."""
from __future__ import annotations

import builtins
import ctypes
import json
import os
import shutil
import tempfile
import weakref
from typing import Any

import numpy as np

from . import _html, _library as c
from ._library import Path, lib
from ._model import view


class Ledger(dict):
    """The account of a run, as in docs/ledger.md: ledger["energy"]["balance"], or ledger["energy.balance"]."""

    @classmethod
    def of(cls, l):
        """Of a carom_ledger, which is freed."""
        ledger, i = cls(), 0
        while True:
            entry = lib.carom_ledger_entry(l, i)
            if not entry:
                lib.carom_ledger_free(l)
                return ledger
            line = entry.contents
            group, _, name = line.name.decode().rpartition(".")
            x = json.loads(c.text(line.text) or ("[]" if name == "warnings" else "null")) if name in ("warnings", "estimate") else c.text(line.text) if line.is_text else None if line.value != line.value else int(line.value) if line.whole else line.value
            (ledger.setdefault(group, {}) if group else ledger)[name] = x
            i += 1

    def __missing__(self, name):
        group, _, rest = name.partition(".")
        if rest and rest in (self.get(group) or {}):
            return self[group][rest]
        raise KeyError(name)

    def flat(self) -> dict[str, Any]:
        """One level: {"energy.balance": ...}."""
        lines = {}
        for name, x in self.items():
            lines.update({f"{name}.{k}": y for k, y in x.items()} if isinstance(x, dict) else {name: x})
        return lines

    def _repr_html_(self):
        return _html.table(["", ""], [(k, _html.number(v)) for k, v in self.flat().items() if v is not None])


_event = np.dtype({"names": ["t", "before", "after", "impulse", "contact", "kind"],
                   "formats": ["f8", "f8", "f8", "f8", "S128", "S16"],
                   "offsets": [getattr(c.ResultEvent, n).offset for n in ("t", "before", "after", "impulse", "contact", "kind")],
                   "itemsize": ctypes.sizeof(c.ResultEvent)})


def _width(names):
    return f"U{max(64, max(map(len, names), default=0))}"


class Result(c.Made):
    """What a run has left: result["x"], result.events, result.ledger.

    Columns of a run in memory are views of the library's memory, which lives as long as one of them; those of a file are read
    when they are asked for.
    """
    _made_by = "carom.run() and carom.open()"

    def _set_up(self, handle, file=None, checks=()):
        self._handle, self.file = handle, file
        self.checks = list(checks)  # (text, met, left, right), after a run to its end
        p = handle.pointer
        self.columns = [c.text(lib.carom_result_column(p, i)) for i in range(lib.carom_result_columns(p))]
        self._place = {name: i for i, name in enumerate(self.columns)}
        self._rows = lib.carom_result_rows(p)
        self._read, self._events, self._contacts, self._data = {}, None, None, None
        values = lib.carom_result_values(p)
        if values:
            self._data = view(values, self._rows * len(self.columns), handle).reshape(self._rows, len(self.columns))
            self._data.flags.writeable = False

    @classmethod
    def open(cls, file: Path, checks=()) -> Result:
        """Open a result: .h5 or .csv."""
        err, file = c.CError(), os.fspath(file)
        pointer = lib.carom_result_open(os.fsencode(file), ctypes.byref(err))
        if not pointer:
            raise c.failure(err)
        return cls._make(c.Handle().add(pointer, lib.carom_result_close), file, checks)

    def __reduce__(self):
        """A result in a file is opened again; one in memory goes as the bytes of its file."""
        if self.file is not None and not getattr(self, "_lent", None):
            return _opened, (os.path.abspath(self.file), self.checks)
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "result.h5")
            self.save(name)
            with builtins.open(name, "rb") as f:
                return _unpacked, (f.read(), self.checks)

    def __len__(self) -> int:
        return self._rows

    def __contains__(self, column: str) -> bool:
        return column in self._place

    def __getitem__(self, column: str) -> np.ndarray:
        try:
            i = self._place[column]
        except KeyError:
            import difflib
            near = difflib.get_close_matches(column, self.columns, 1)
            raise KeyError(f"no column {column!r}" + (f"; did you mean {near[0]!r}?" if near else "")) from None
        if self._data is not None:
            return self._data[:, i]
        if column not in self._read:
            x, err = np.empty(self._rows), c.CError()
            if lib.carom_result_read(self._handle.pointer, i, 0, self._rows, x.ctypes.data, ctypes.byref(err)) != c.OK:
                raise c.failure(err)
            self._read[column] = x
        return self._read[column]

    @property
    def t(self) -> np.ndarray:
        return self["t"]

    @property
    def data(self) -> np.ndarray:
        """All rows: an array of len(self) x len(self.columns)."""
        if self._data is None:
            x, err = np.empty((self._rows, len(self.columns))), c.CError()
            if lib.carom_result_read_rows(self._handle.pointer, 0, self._rows, x.ctypes.data, ctypes.byref(err)) != c.OK:
                raise c.failure(err)
            self._data = x
        return self._data

    @property
    def events(self) -> np.ndarray:
        """A structured array with t, contact, kind ("impact", "close", ...), before, after, impulse."""
        if self._events is None:
            n, err = lib.carom_result_event_count(self._handle.pointer), c.CError()
            raw = np.zeros(n, _event)
            if lib.carom_result_events(self._handle.pointer, 0, n, raw.ctypes.data, ctypes.byref(err)) != c.OK:
                raise c.failure(err)
            out = np.zeros(n, [("t", "f8"), ("contact", _width(raw["contact"])), ("kind", "U16"), ("before", "f8"), ("after", "f8"), ("impulse", "f8")])
            for name in ("t", "before", "after", "impulse"):
                out[name] = raw[name]
            for name in ("contact", "kind"):
                out[name] = [b.split(b"\0")[0].decode("utf-8", "replace") for b in raw[name]]
            self._events = out
        return self._events

    @property
    def contacts(self) -> np.ndarray:
        """Snapshots of contacts between shapes (`record: {contacts: ...}`): a structured array with t, contact, point, normal, gap, force."""
        if self._contacts is None:
            n, err = lib.carom_result_contact_count(self._handle.pointer), c.CError()
            raw = np.zeros(n, [("t", "f8"), ("point", "f8", 3), ("normal", "f8", 3), ("gap", "f8"), ("force", "f8", 3), ("contact", "S128")])
            if lib.carom_result_contacts(self._handle.pointer, 0, n, raw.ctypes.data, ctypes.byref(err)) != c.OK:
                raise c.failure(err)
            out = np.zeros(n, [("t", "f8"), ("contact", _width(raw["contact"])), ("point", "f8", 3), ("normal", "f8", 3), ("gap", "f8"), ("force", "f8", 3)])
            for name in ("t", "point", "normal", "gap", "force"):
                out[name] = raw[name]
            out["contact"] = [b.decode("utf-8", "replace") for b in raw["contact"]]
            self._contacts = out
        return self._contacts

    @property
    def ledger(self) -> Ledger:
        """The Ledger; an empty one when the result has none (CSV)."""
        l = lib.carom_ledger_of_result(self._handle.pointer, None)
        return Ledger.of(l) if l else Ledger()

    @property
    def info(self) -> dict[str, Any]:
        """What /run says: name, scheme, options, step, end, status, message, version ..."""
        found: dict[str, Any] = {}
        p, i, x = self._handle.pointer, 0, ctypes.c_double()
        while True:
            name = lib.carom_result_attribute(p, i)
            if name is None:
                return found
            text = lib.carom_result_text(p, name)
            found[name.decode()] = c.text(text) if text is not None else x.value if lib.carom_result_number(p, name, ctypes.byref(x)) else None
            i += 1

    @property
    def model_text(self) -> str | None:
        """The text of the model; None when there is none."""
        return c.text(lib.carom_result_model(self._handle.pointer, ctypes.byref(ctypes.c_size_t())))

    def unit(self, column: str) -> str | None:
        """The SI unit of a column ("m/s"), where the model gives units; else None."""
        text = ctypes.create_string_buffer(40)
        return text.value.decode() if lib.carom_result_unit(self._handle.pointer, column.encode(), text, len(text)) else None

    def save(self, file: Path) -> Result:
        """Write the result under this name, .h5 or .csv (without ledger and model); the result itself."""
        err = c.CError()
        status = lib.carom_result_save(self._handle.pointer, os.fsencode(file), ctypes.byref(err))
        if status != c.OK:
            raise c.failure(err, status)
        return self

    def to_pandas(self) -> Any:
        """A pandas.DataFrame over t; what the result says of the run is in its attrs."""
        import pandas
        frame = pandas.DataFrame({name: np.array(self[name]) for name in self.columns if name != "t"}, index=pandas.Index(np.array(self.t), name="t"))
        frame.attrs.update(self.info)
        return frame

    def to_xarray(self) -> Any:
        """An xarray.Dataset over t; what the result says of the run is in its attrs."""
        import xarray
        return xarray.Dataset({name: ("t", np.array(self[name])) for name in self.columns if name != "t"}, {"t": np.array(self.t)}, self.info)

    def view(self, rows: int | None = None, height: int = 640) -> Any:
        """The page of `carom view`: the moving mechanism and plots, shown by a notebook; page.save(file), page.open()."""
        from ._page import page
        return page(self, rows, height)

    def to_vtk(self, file: Path, rows: int | None = None, start: Any = None, end: float | None = None) -> str:
        """Write what moves as a series of files that ParaView opens: FILE.pvd with the folder FILE.vtk beside it, and FILE.contacts.pvd; its name."""
        from ._page import vtk
        return vtk(self, file, rows, start, end)

    def plot(self, *columns: str, axes: Any = None) -> Any:
        """Draw columns over time (default: the coordinates) with matplotlib; the axes."""
        import matplotlib.pyplot as plt
        axes = axes if axes is not None else plt.subplots(figsize=(8, 3), constrained_layout=True)[1]
        for name in columns or self._main():
            axes.plot(self.t, self[name], label=name + (f" ({self.unit(name)})" if self.unit(name) else ""), linewidth=1)
        units = {self.unit(name) for name in columns or self._main()}
        if len(units) == 1 and None not in units:
            axes.set_ylabel(units.pop())
        axes.set_xlabel("t (s)")
        axes.legend(loc="best", frameon=False)
        axes.set_title(self.info.get("name") or "", fontsize="medium")
        return axes

    def _main(self):
        """The coordinates: those that have a rate; else what comes first."""
        return ([n for n in self.columns if n + "'" in self._place and "." not in n] or self.columns[1:])[:6]

    def _repr_html_(self):
        info = self.info
        head = f"{info.get('name') or self.file or 'carom'}: {info.get('scheme', '')}, {len(self)} rows, {len(self.events)} events"
        lines = {k: v for k, v in self.ledger.flat().items() if k in _html.MAIN and v is not None}
        curves = [(n, self[n]) for n in self._main()]
        return (f"<div><b>{_html.escape(head)}</b>" + _html.curves(self.t, curves) +
                _html.table(list(lines), [[_html.number(v) for v in lines.values()]]) + "</div>")

    def __repr__(self):
        info = self.info
        return f"<carom.Result {info.get('name', '')!r}: {info.get('scheme', 'CSV')}, {len(self)} rows, {info.get('status', '')}>"


def open(file: Path) -> Result:
    """Open a result: .h5 or .csv."""
    return Result.open(file)


def _opened(file, checks):
    return Result.open(file, checks)


def _unpacked(data, checks):
    """A result from the bytes of its file, which lives as long as it."""
    folder = tempfile.mkdtemp(prefix="carom-")
    name = os.path.join(folder, "result.h5")
    with builtins.open(name, "wb") as f:
        f.write(data)
    result = Result.open(name, checks)
    result._lent = True
    weakref.finalize(result, shutil.rmtree, folder, True)
    return result
