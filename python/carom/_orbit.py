"""Periodic orbits, their branches and Lyapunov exponents: `carom orbit`, `carom follow`, `carom lyapunov`."""
from __future__ import annotations

import ctypes
import math
from typing import Any, Mapping

import numpy as np

from . import _library as c
from ._library import Source, Time, lib
from ._model import Model
from ._result import Result
from ._run import initial_state, run, signals_at, signals_of, text_model


def _array(pointer, n):
    return np.ctypeslib.as_array(pointer, (n,)).copy() if n else np.zeros(0)


def _fill(d, model, scheme, options, start, keep):
    """The parts that all three definitions have; what must stay alive goes to keep."""
    texts = (c.MatrixText * max(1, len(model._matrices)))(
        *(c.MatrixText(name.encode(), text, len(text), place.encode()) for name, (text, place) in model._matrices.items()))
    d.model = c.ModelDef(model._data, len(model._data), model.file.encode(), c.strings(model._set), texts, len(model._matrices), None)
    d.run = lib.carom_run_nothing()
    d.run.scheme, d.run.options = scheme and scheme.encode(), c.strings(c.pairs(options))
    state = None if start is None else np.concatenate(initial_state(model, start))
    d.start = None if state is None else state.ctypes.data
    signals = None if start is None or not hasattr(d, "signals") else signals_of(model, start)
    if signals is not None:
        d.signals = signals.ctypes.data
    keep += [texts, state, signals]


def _pairs(exchange, keep):
    keep.append(c.strings(c.pairs(exchange)))
    return ctypes.cast(keep[-1], ctypes.c_void_p) if exchange else None


def columns_of(t):
    """{name: array} of a table: numbers, integers, texts."""
    columns, n = {}, t.rows
    for i in range(t.columns):
        column = t.column[i]
        if column.kind == 0:
            values = _array(column.real, n)
        elif column.kind == 1:
            values = np.array([column.integer[k] for k in range(n)], int)
        else:
            values = np.array([c.text(column.text[k]) for k in range(n)], object)
        columns[c.text(column.name)] = values
    return columns


class Orbit(c.Made):
    """A periodic orbit.

    found                   False: no orbit, only the nearest that orbit() came to (`best` of its error); then stable and neutral are None
    period, residual        the residual is relative to how far each part of the state moves
    state                   {name: number} at t = 0; q and v the same as arrays; advance: how far positions go in a period
    multipliers             complex array, largest first, then zeros of closed contacts and `trivial` ones
    others                  multipliers of large models that are not among them, none of them larger
    stable, neutral         neutral: the largest multiplier lies on the unit circle
    signals                 {name: number}: those of controllers at t = 0, before they compute there
    isolated                False: there are other orbits near it
    events                  [(t, contact, kind)]: impact, chatter, close, open, stick, slip, reverse
    """
    _made_by = "carom.orbit()"

    def _set_up(self, model, o, found=True):
        self.found = found
        self.period, self.residual, self.iterations, self.trivial = o.period, o.residual, o.iterations, o.trivial
        self.q, self.v, self.advance = _array(o.q, o.nq), _array(o.v, o.nv), _array(o.advance, o.nq)
        self.state = {**{model.coordinates[i]: float(self.q[i]) for i in range(o.nq) if not lib.carom_model_state(model._handle.pointer, i)},
                      **dict(zip(model.velocities, self.v.tolist()))}
        self.signals = signals_at(model, _array(o.signals, o.nsignals))
        self.multipliers = _array(o.re, o.nmultipliers) + 1j * _array(o.im, o.nmultipliers)
        self.isolated, self.scheme, self.others = bool(o.isolated), c.text(o.scheme), o.others
        self.neutral = abs(o.largest - 1) <= 1e-7 if found else None
        self.stable = o.largest < 1 and not self.neutral if found and not math.isnan(o.largest) else None
        self.events = [(e.t, model.contacts[e.contact], c.text(e.kind)) for e in (o.event[i] for i in range(o.nevents))]
        self._model = model

    def run(self, rows: int | None = 500) -> Result:
        """One period as a result."""
        return run(self._model, scheme=self.scheme, start=self, end=self.period, step=self.period / rows, every=1)

    def __repr__(self):
        if not self.found:
            return f"<carom.Orbit: not an orbit, the nearest so far: period {self.period:.9g}, residual {self.residual:.2g}>"
        return f"<carom.Orbit: period {self.period:.9g}, {'neutral' if self.neutral else 'stable' if self.stable else 'unstable'}>"


def orbit(model: Source, *, period: Any = None, transient: Time = 0.0, start: Any = None, guess: Any = None, end: Time | None = None, exchange: Mapping[str, str] | None = None, segments: int | None = None, conservative: bool = False, energy: float | None = None, scheme: str | None = None, options: Mapping[str, Any] | None = None, set: Mapping[str, Any] | None = None, matrices: Mapping[str, Any] | None = None) -> Orbit:
    """A motion that repeats itself.  SimulationError: none was found, and why; its attribute `best` is the nearest so far, an Orbit with a larger residual and `found` False, or None.

    period     an expression of parameters, a number, or "free"
    conservative, energy   the model keeps its energy: that of the orbit, left out: of the start; its period is free
    exchange   {"a": "b"}: coordinates that have changed places after a period, as the legs of a walker after a step
    segments   pieces of multiple shooting; left out: one, and more where the motion grows too much for that
    """
    model = text_model(model, set, matrices)._written()
    keep: list[Any] = []
    d, o, err = c.OrbitDef(), c.Orbit(), c.CError()
    _fill(d, model, scheme, options, start, keep)
    if period is None and not conservative:
        raise c.InputError('give period=: an expression, a number or "free"')
    if energy is not None and not conservative:
        raise c.InputError("energy= belongs to conservative=True")
    d.conservative, d.energy = conservative, math.nan if energy is None else energy
    d.period, d.transient, d.guess = ("free" if period is None else str(period)).encode(), c.seconds("transient", transient), math.nan if guess is None else guess
    d.exchange, d.segments = _pairs(exchange, keep), segments or 0
    if end is not None:
        d.run.end = c.seconds("end", end)
    status = lib.carom_orbit_find(ctypes.byref(o), ctypes.byref(d), ctypes.byref(err))
    try:
        if status != c.OK:
            failure = c.failure(err, status)
            failure.best = Orbit._make(model, o, found=False) if o.q and o.period > 0 else None
            raise failure
        return Orbit._make(model, o)
    finally:
        lib.carom_orbit_free(ctypes.byref(o))


KINDS = ("fold", "branch", "hopf", "doubling", "torus", "grazing", "quadrature")
WORDS = ("fold", "branch", "hopf", "period-doubling", "neimark-sacker", "grazing ")


class Curve(c.Made):
    """An event in two parameters: columns by name, curve["A"], curve["B"], curve["event"], curve["stable"], curve["coefficient"] and the state.

    note       why a part ends inside the ranges; None: none does
    """
    _made_by = "carom.Branch.curve()"

    def _set_up(self, f, kind, by):
        self.kind, self.by, self._columns = kind, by, columns_of(f.curve)
        self.note, self.names = c.text(f.note.text) if f.note.code != c.OK else None, list(self._columns)

    @property
    def events(self):
        """[(value of the first parameter, of the second, event)]"""
        return [(float(x), float(y), e) for x, y, e in zip(self[self.by[0]], self[self.by[1]], self["event"]) if e]

    def __getitem__(self, name):
        return self._columns[name]

    def __len__(self):
        return len(self["event"])

    def __repr__(self):
        return f"<carom.Curve: {len(self)} points of a {self.kind} curve over {self.by[0]} and {self.by[1]}>"


class Branch(c.Made):
    """Columns by name: branch["A"], branch["period"], branch["max(y)"]; "branch" and "stable" are integers, "event" texts ("" at ordinary points).

    complete   False: it stopped at the number of points
    note       why a branch could not be followed to its end; None: there was no reason to say
    """
    _made_by = "carom.follow()"

    def _set_up(self, f, by, model, given):
        self.by, self._columns = by, columns_of(f.branch)
        self.complete, self.note = f.queue.rows == 0, c.text(f.note.text) if f.note.code != c.OK else None
        self.names = list(self._columns)
        self._model, self._given = model, given

    def _row(self, kind, number):
        """The row of event `number` of a kind."""
        rows = [i for i, e in enumerate(self["event"]) if kind != "quadrature" and e.startswith(WORDS[KINDS.index(kind)]) and not e.endswith("?")]
        if kind == "quadrature":
            name = self._given["response"]
            if not name:
                raise c.InputError("a curve of quadrature needs a branch with response=")
            quarter = np.cos(np.radians(self[name + ".phase"]))
            rows = [i if abs(quarter[i]) < abs(quarter[i + 1]) else i + 1 for i in range(len(self) - 1)
                    if self["branch"][i] == self["branch"][i + 1] and quarter[i] * quarter[i + 1] < 0]
        if not 1 <= number <= len(rows):
            raise c.InputError(f"the branch has {len(rows)} event{'' if len(rows) == 1 else 's'} of the kind {kind!r}, not number {number}")
        return rows[number - 1]

    def curve(self, kind: str, by: Mapping[str, tuple[float, float]], *, number: int = 1, step: float | None = None, points: int | None = None) -> Curve:
        """The curve of an event in two parameters: branch.curve("fold", {"P": (-4, 4), "h": (0.1, 0.5)}).

        kind       fold, branch, hopf, doubling, torus, grazing; quadrature: the response is a quarter of a period behind the excitation
        by         two parameters, each with the values between which the curve is followed
        number     of the event among those of the kind, from 1
        """
        if kind not in KINDS:
            raise c.InputError(f"kind is one of {', '.join(KINDS)}, not {kind!r}")
        if len(by) != 2:
            raise c.InputError("by= has two parameters, each with two values")
        row, given = self._row(kind, number), self._given
        model = Model(self._model._data.decode(), {**dict(pair.split("=", 1) for pair in self._model._set), self.by: repr(float(self[self.by][row]))},
                      matrices={name: text for name, (text, _) in self._model._matrices.items()})
        state = {name: float(self[name][row]) for name in [*model.coordinates, *model.velocities] if name in self._columns}
        keep: list[Any] = []
        d, x, err = c.LocusDef(), c.Locus(), c.CError()
        _fill(d, model, given["scheme"], given["options"], state, keep)
        period = float(self["period"][row])
        d.kind, d.guess, d.exchange = KINDS.index(kind), period if period > 0 else math.nan, _pairs(given["exchange"], keep)
        d.period = ((given["period"] or "free").encode() if period > 0 else None)
        d.response = given["response"].encode() if kind == "quadrature" else None
        d.step, d.max_points = step or 0, points or 0
        for i, (name, limits) in enumerate(by.items()):
            d.by[i], d.to[i] = name.encode(), float(limits[1])
            getattr(d, "from")[i] = float(limits[0])
        status = lib.carom_locus_run(ctypes.byref(x), ctypes.byref(d), ctypes.byref(err))
        try:
            if status != c.OK:
                raise c.failure(err, status)
            return Curve._make(x, kind, tuple(by))
        finally:
            lib.carom_locus_free(ctypes.byref(x))

    @property
    def events(self):
        """[(value of the parameter, event)]"""
        return [(float(x), e) for x, e in zip(self[self.by], self["event"]) if e]

    def __getitem__(self, name):
        return self._columns[name]

    def __len__(self):
        return len(self["branch"])

    def __repr__(self):
        return f"<carom.Branch: {len(self)} points over {self.by}>"


def follow(model: Source, *, by: Any = None, between: tuple[float, float], orbit: Any = None, equilibrium: Any = None, period: Any = None, exchange: Mapping[str, str] | None = None, switch: bool | str = False, step: float | None = None, points: int | None = None, response: str | None = None, conservative: bool = False, mode: int = 1, scheme: str | None = None, options: Mapping[str, Any] | None = None, set: Mapping[str, Any] | None = None, matrices: Mapping[str, Any] | None = None) -> Branch:
    """A branch over the parameter `by`, between two values, through an orbit (an Orbit) or a state of rest (an Equilibrium, or any start of simulate).

    exchange   as for orbit()
    period     as for orbit(); left out: that of the orbit, free where the model does not depend on time
    switch     follow other branches, too: "doubling" (or True), "branch", "hopf" or "all"
    response   an expression: columns with its mean and the amplitudes and phases of its harmonics
    conservative   nonlinear modes: `between` are energies, by is "energy"; without orbit= the family begins at linear mode number `mode`, slowest first
    """
    model = text_model(model, set, matrices)._written()
    if conservative:
        if equilibrium is not None or period is not None or by not in (None, "energy"):
            raise c.InputError('conservative=True: the parameter is the energy, by="energy", and the period is free; leave out equilibrium= and period=')
        by, period = "energy", "free"
    elif by is None:
        raise c.InputError("give by=, a parameter")
    elif (orbit is None) == (equilibrium is None):
        raise c.InputError("give orbit= or equilibrium=")
    keep: list[Any] = []
    d, b, err = c.FollowDef(), c.Branch(), c.CError()
    guess, start = ctypes.c_double(math.nan if orbit is None else orbit.period), orbit if orbit is not None else equilibrium
    if conservative and orbit is None:
        x, n = np.zeros(model.sizes.coordinates + model.sizes.velocities), model.sizes.coordinates
        status = lib.carom_orbit_mode(model._handle.pointer, mode, float(min(between)), x.ctypes.data, ctypes.byref(guess), ctypes.byref(err))
        if status != c.OK:
            raise c.failure(err, status)
        start = (x[:n], x[n:])
    _fill(d, model, scheme, options, start, keep)
    d.guess, d.conservative, d.response = guess.value, conservative, response and response.encode()
    d.exchange = _pairs(exchange, keep)
    if orbit is not None and period is None:
        timeless = ctypes.c_bool()
        status = lib.carom_model_timeless(model._handle.pointer, by.encode(), ctypes.byref(timeless), ctypes.byref(err))
        if status != c.OK:
            raise c.failure(err, status)
        period = "free" if timeless.value else repr(orbit.period)
    d.period = None if orbit is None and not conservative else str(period).encode()
    d.by, d.to = by.encode(), float(between[1])
    setattr(d, "from", float(between[0]))
    known = {False: 0, True: 1, "doubling": 1, "branch": 2, "hopf": 4, "all": 7}
    if switch not in known:
        raise c.InputError(f"switch= is True, 'doubling', 'branch', 'hopf' or 'all', not {switch!r}")
    d.step, d.max_points, d.switches = step or 0, points or 0, known[switch]
    status = lib.carom_follow_run(ctypes.byref(b), ctypes.byref(d), ctypes.byref(err))
    try:
        if status != c.OK:
            raise c.failure(err, status)
        return Branch._make(b, by, model, {"scheme": scheme, "options": options, "exchange": exchange, "response": response, "period": d.period and d.period.decode()})
    finally:
        lib.carom_branch_free(ctypes.byref(b))


def lyapunov(model: Source, *, end: Time | None = None, transient: Time = 0.0, step: Time | None = None, start: Any = None, scheme: str | None = None, options: Mapping[str, Any] | None = None, set: Mapping[str, Any] | None = None, matrices: Mapping[str, Any] | None = None) -> Lyapunov:
    """Lyapunov exponents over `end` seconds, after the transient."""
    model = text_model(model, set, matrices)._written()
    keep: list[Any] = []
    d, x, err = c.LyapunovDef(), c.Lyapunov(), c.CError()
    _fill(d, model, scheme, options, start, keep)
    d.transient = c.seconds("transient", transient)
    for name, value in (("end", end), ("step", step)):
        if value is not None:
            setattr(d.run, name, c.seconds(name, value))
    status = lib.carom_lyapunov_find(ctypes.byref(x), ctypes.byref(d), ctypes.byref(err))
    try:
        if status != c.OK:
            raise c.failure(err, status)
        return Lyapunov._make(x)
    finally:
        lib.carom_lyapunov_free(ctypes.byref(x))


class Lyapunov(c.Made):
    """exponents (1/s, largest first), errors, sum, t; history: rows of time and exponents until then."""
    _made_by = "carom.lyapunov()"

    def _set_up(self, x):
        self.exponents, self.errors, self.sum, self.t = _array(x.exponent, x.n), _array(x.error, x.n), x.sum, x.t
        self.history = _array(x.history, x.rows * (1 + x.n)).reshape(x.rows, 1 + x.n)

    def __repr__(self):
        return "<carom.Lyapunov: " + ", ".join(f"{e:.6g}" for e in self.exponents) + ">"
