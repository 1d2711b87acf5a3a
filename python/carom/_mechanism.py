"""Mechanisms as data: the sections of a model file as dicts and lists."""
from __future__ import annotations

import copy
import ctypes
import numbers
from typing import Any, Mapping

from . import _library as c
from ._library import lib
from ._model import Model, matrix_texts

_TEXT, _LIST, _MAP = 2, 3, 4


class _Data:
    """Data for C; it lives as long as this."""

    def __init__(self):
        self._kept = []

    def put(self, d, x, where):
        """Fill the datum d from a number, a text, a list, an array or a dict."""
        d.text = b""
        if hasattr(x, "tolist"):
            x = x.tolist()  # NumPy
        if x is None or isinstance(x, (str, numbers.Real)):
            word = "" if x is None else c.number(x)
            if isinstance(x, bool) and not where.startswith("simulation"):
                word = "yes" if x else "no"
            if "\0" in word:
                raise c.InputError(f"{where}: a text with a NUL in it")
            d.kind, d.text, d.bare = _TEXT, word.encode(), x is None
            d.length = len(d.text)
            return
        if not isinstance(x, (list, tuple, dict)):
            raise c.InputError(f"{where}: expected a number, text, list or dict, got {type(x).__name__}")
        items = (c.Datum * max(1, len(x)))()
        self._kept.append(items)
        d.kind, d.count, d.item = _MAP if isinstance(x, dict) else _LIST, len(x), ctypes.cast(items, ctypes.POINTER(c.Datum))
        for i, y in enumerate(x):
            if isinstance(x, dict):
                key = c.Datum()
                self._kept.append(key)
                self.put(key, str(y), where)
                items[i].key = ctypes.pointer(key)
            self.put(items[i], x[y] if isinstance(x, dict) else y, f"{where}.{y}" if isinstance(x, dict) else where)


class Mechanism:
    """A mechanism as data, with the sections and keys of a model file (`carom help model`):

        m = carom.Mechanism("pendulum", gravity=[0, -9.81])
        m.bodies["rod"] = {"mass": 1, "inertia": 0.1, "at": [0.5, 0]}
        m.joints["pin"] = {"type": "revolute", "between": ["ground", "rod"], "at": [0, 0]}
        carom.run(m, step=1e-3, end=2)

    Every section is an attribute, a dict that grows as needed; m["contact defaults"] where its name is not one word.  Numbers may be those of
    NumPy, lists may be arrays, texts are expressions.  `text` is the same as a model file.  Copies are independent; equal data are equal.
    """

    def __init__(self, name=None, **sections):
        self.__dict__["sections"] = {}
        if name is not None:
            self.sections["name"] = name
        self.sections.update(sections)

    def __getattr__(self, section):
        if section.startswith("_"):
            raise AttributeError(section)
        return self[section]

    def __setattr__(self, section, value):
        self.sections[section] = value

    def __getitem__(self, section):
        return self.sections.setdefault(section, {})

    def __setitem__(self, section, value):
        self.sections[section] = value

    def __eq__(self, other):
        return isinstance(other, Mechanism) and self.text == other.text

    def __copy__(self):
        return Mechanism(**copy.deepcopy(self.sections))

    __deepcopy__ = lambda self, memo: self.__copy__()

    def copy(self) -> Mechanism:
        return self.__copy__()

    def __repr__(self):
        return f"<carom.Mechanism {', '.join(f'{k}: {len(v)}' for k, v in self.sections.items() if isinstance(v, dict))}>"

    def _fill(self):
        """A carom_mech of all this, in a handle of its own."""
        mech, err = lib.carom_mech_create(b"mechanism"), c.CError()
        if not mech:
            raise MemoryError
        handle = c.Handle().add(mech, lib.carom_mech_destroy)
        for section, value in self.sections.items():
            entries = value.items() if isinstance(value, dict) else [(None, value)]
            if isinstance(value, dict) and section in ("energy", "simulation", "contact defaults"):
                entries = [(None, value)]  # one record, not several with names
            for name, x in entries:
                data, d = _Data(), c.Datum()
                data.put(d, x, section if name is None else f"{section}.{name}")
                status = lib.carom_mech_add(mech, section.encode(), None if name is None else str(name).encode(), ctypes.byref(d), ctypes.byref(err))
                if status != c.OK:
                    raise c.failure(err, status)
        return handle

    @property
    def text(self) -> str:
        """The same as a model file."""
        handle = self._fill()
        pointer = lib.carom_mech_text(handle.pointer)
        if not pointer:
            raise MemoryError
        try:
            return ctypes.string_at(pointer).decode()
        finally:
            lib.carom_mech_text_free(pointer)

    def model(self, set: Mapping[str, Any] | None = None, matrices: Mapping[str, Any] | None = None) -> Any:
        """The Model of it; set and matrices as of Model."""
        handle, err, overrides, texts = self._fill(), c.CError(), c.pairs(set), matrix_texts(matrices)
        for word in overrides:
            status = lib.carom_mech_set(handle.pointer, word.encode(), ctypes.byref(err))
            if status != c.OK:
                raise c.failure(err, status)
        for name, (text, place) in texts.items():
            status = lib.carom_mech_add_matrix(handle.pointer, ctypes.byref(c.MatrixText(name.encode(), text, len(text), place.encode())), ctypes.byref(err))
            if status != c.OK:
                raise c.failure(err, status)
        pointer = lib.carom_model_of(handle.pointer, None, ctypes.byref(err))
        if not pointer:
            raise c.failure(err)
        return Model._made(pointer, self.text.encode(), "mechanism", overrides, texts)
