"""States of rest, modes, gradients and fits: `carom equilibrium`, `carom modes`, `carom gradient`, `carom fit`."""
from __future__ import annotations

import ctypes
import math
import os
import tempfile
from typing import Any, Mapping, Sequence

import numpy as np

from . import _library as c
from ._library import Path, Source, Time, lib
from ._model import _signals as signal_texts
from ._run import initial_state, signals_at, signals_of, text_model

KINDS = ("open", "closed", "sticks", "slides")


def _array(pointer, n):
    return np.ctypeslib.as_array(pointer, (n,)).copy() if n else np.zeros(0)


def _shown(model, n, positions=False):
    """Which of the first n velocities (positions) a user knows: all but those of brakes, and integrals of states."""
    out = lib.carom_model_hidden if positions else lib.carom_model_presses
    return [i for i in range(n) if not out(model._handle.pointer, i)]


def _at_rest(model, q):
    """Velocities of an equilibrium: zero, of first-order states their values."""
    v = np.zeros(len(model.velocities))
    lib.carom_model_at_rest(model._handle.pointer, q.ctypes.data, v.ctypes.data)
    return v


class Equilibrium(c.Made):
    """A state of rest.

    state       {name: number}, positions, (zero) rates and values of first-order states
    forces      {"floor.force": number}: joints and contacts; ranges: {name: (low, high)} where forces are not unique and one combination is free
    contacts    {name: "open", "closed", "sticks" or "slides"}
    residual    largest relative violation of balance, laws of contact and gaps
    unique      True: the forces are unique and no contact sticks, so that no other equilibrium is beside it
    free        independent combinations of forces that move nothing
    range       {name: (low, high)} of the coordinates in `range` of equilibrium(): where else friction would hold them
    q           positions as an array
    signals     {name: number}: what controllers hold at rest
    """
    _made_by = "carom.equilibrium()"

    def _set_up(self, model, rest):
        self.q = _array(rest.q, rest.nq)
        q, v, rates = _shown(model, rest.nq, True), _shown(model, rest.nv), _at_rest(model, self.q)
        self.state = {**{model.coordinates[i]: float(self.q[i]) for i in q}, **{model.velocities[i]: float(rates[i]) for i in v}}
        forces = [rest.force[i] for i in range(rest.nforce)]
        self.forces = {c.text(f.name): f.value for f in forces}
        self.ranges = {c.text(f.name): (f.low, f.high) for f in forces if not math.isnan(f.low)}
        self.contacts = {name: KINDS[rest.contact[i]] for i, name in enumerate(model.contacts)}
        self.residual, self.free = rest.residual, rest.free
        self.unique, self.range = rest.free == 0 and "sticks" not in self.contacts.values(), {}
        self._held = _array(rest.signals, rest.nsignals)
        self.signals = signals_at(model, self._held)
        self._model = model

    def save(self, file: Path) -> Any:
        """A file for `carom run --start`."""
        v, err = _at_rest(self._model, self.q), c.CError()
        status = lib.carom_state_keep(self._model._handle.pointer, os.fsencode(file), self.q.ctypes.data, v.ctypes.data, self._held.ctypes.data, ctypes.byref(err))
        if status != c.OK:
            raise c.failure(err, status)

    def __repr__(self):
        return f"<carom.Equilibrium: residual {self.residual:.2g}>"


def _ranges(found, model, rest, names):
    err = c.CError()
    for name in [names] if isinstance(names, str) else names:
        if name not in found.state or name not in model.coordinates:
            raise c.InputError(f"range: the model has no coordinate {name!r}")
        limits = (ctypes.c_double * 2)()
        status = lib.carom_equilibrium_range(model._handle.pointer, ctypes.byref(rest), model.coordinates.index(name), limits, ctypes.byref(err))
        if status != c.OK:
            raise c.failure(err, status)
        found.range[name] = tuple(limits)
    return found


def equilibrium(model: Source, *, range: str | Sequence[str] = (), set: Mapping[str, Any] | None = None, matrices: Mapping[str, Any] | None = None, start: Any = None) -> Equilibrium:
    """A state of rest near the initial state, or near `start` (see simulate).  SimulationError: none was found, and why; its attribute `best` is the nearest so far, or None.

    range      coordinates, whose admissible ranges with friction are then in the attribute `range`
    """
    model = text_model(model, set, matrices)._written()
    rest, err = c.Rest(), c.CError()
    q = None if start is None else initial_state(model, start)[0]
    status = lib.carom_equilibrium_find(ctypes.byref(rest), model._handle.pointer, None if q is None else q.ctypes.data, ctypes.byref(err))
    try:
        if status != c.OK:
            failure = c.failure(err, status)
            failure.best = Equilibrium._make(model, rest) if rest.q else None
            raise failure
        return _ranges(Equilibrium._make(model, rest), model, rest, range)
    finally:
        lib.carom_equilibrium_free(ctypes.byref(rest))


class Modes(c.Made):
    """frequencies (Hz), damping (ratios), eigenvalues (complex, 1/s), shapes (complex, a row per mode), names of the columns of shapes, rigid (bool: nothing is deformed).

    With controllers, eigenvalues are log(multipliers)/sample, where sample is the common period of their samples; forgotten: how many further multipliers are 0."""
    _made_by = "carom.modes()"

    def _set_up(self, model, x):
        modes, nv, shown = [x.mode[i] for i in range(x.count)], x.nv, _shown(model, x.nv)
        self.frequencies = np.array([m.frequency for m in modes])
        self.damping = np.array([m.damping for m in modes])
        self.eigenvalues = np.array([complex(m.re, m.im) for m in modes])
        self.rigid = np.array([m.rigid for m in modes], bool)
        parts = [_array(m.shape, 2 * nv) for m in modes]
        self.shapes = np.array([p[:nv] + 1j * p[nv:] for p in parts]).reshape(len(modes), nv)[:, shown]
        self.names = [model.velocities[i] for i in shown]
        self.joints, self.sticking, self.sliding, self.unbalanced = x.joints, x.sticking, x.sliding, x.unbalanced
        self.method = c.text(x.method)
        self.sample, self.forgotten = x.sample, x.forgotten
        self.multipliers = np.exp(x.sample * self.eigenvalues) if x.sample > 0 else None

    def __len__(self):
        return len(self.frequencies)

    def __repr__(self):
        return f"<carom.Modes: {len(self)}>"


def modes(model: Source, *, at: Any = "equilibrium", contacts: str = "closed", count: int | None = None, set: Mapping[str, Any] | None = None, matrices: Mapping[str, Any] | None = None) -> Modes:
    """Modes about a state of rest, about the initial state (at="initial"), or about any state that `start` of simulate allows."""
    model = text_model(model, set, matrices)._written()
    if contacts not in ("open", "closed"):
        raise c.InputError(f"contacts: {contacts!r} is neither open nor closed")
    d, x, err = c.ModesDef(), c.Modes(), c.CError()
    d.open, d.count = contacts == "open", count or 0
    state = initial_state(model, {} if at == "initial" else at) if not isinstance(at, str) or at != "equilibrium" else None
    if state:
        d.q, d.v = (s.ctypes.data for s in state)
    status = lib.carom_modes_find(ctypes.byref(x), model._handle.pointer, ctypes.byref(d), ctypes.byref(err))
    try:
        if status != c.OK:
            raise c.failure(err, status)
        return Modes._make(model, x)
    finally:
        lib.carom_modes_free(ctypes.byref(x))


def _define(d, model, scheme, step, end, options, rtol, atol, start, files=None):
    """Model, run and start of a definition; what it returns must live as long."""
    matrices = {**model._matrices, **(files or {})}
    texts = (c.MatrixText * max(1, len(matrices)))(
        *(c.MatrixText(name.encode(), text, len(text), place.encode()) for name, (text, place) in matrices.items()))
    d.model = c.ModelDef(model._data, len(model._data), model.file.encode(), c.strings(model._set), texts, len(matrices), None)
    d.run = lib.carom_run_nothing()
    d.run.scheme, d.run.options = scheme and scheme.encode(), c.strings(c.pairs(options))
    for name, x in (("step", step), ("end", end), ("rtol", rtol), ("atol", atol)):
        if x is not None:
            setattr(d.run, name, c.seconds(name, x))
    state = None if start is None else np.concatenate(initial_state(model, start))
    signals = None if start is None or not hasattr(d, "signals") else signals_of(model, start)
    d.start = None if state is None else state.ctypes.data
    if signals is not None:
        d.signals = signals.ctypes.data
    return texts, state, signals


class Gradient(c.Made):
    """Derivatives of one result of a run.

    value, gradient   a number, an array in the order of names
    distance          how far each name may change until the sequence of events is another one, to first order: an array, infinite where not known
    note              a warning, or None: a contact is nearly grazed, or two extremes are equal
    t, values, gradients  with rows=True: the same at every step, as if the run ended there: arrays of n, n and n x len(names)
    """
    _made_by = "carom.gradient()"

    def _set_up(self, g):
        self.names = [c.text(g.name[i]) for i in range(g.n)]
        self.value, self.gradient, self.scheme = g.value, _array(g.gradient, g.n), c.text(g.scheme)
        self.distance, self.note = _array(g.distance, g.n), c.text(g.note) or None
        rows = _array(g.row, g.rows * (2 + g.n)).reshape(g.rows, 2 + g.n)
        self.t, self.values, self.gradients = rows[:, 0], rows[:, 1], rows[:, 2:]

    def __getitem__(self, name):
        return self.gradient[self.names.index(name)]

    def __repr__(self):
        return f"<carom.Gradient: {self.value:.6g}; " + ", ".join(f"by {k} {v:.6g}" for k, v in zip(self.names, self.gradient)) + ">"


def gradient(model: Source, of: Any, by: Any, *, scheme: str | None = None, step: Time | None = None, end: Time | None = None, options: Mapping[str, Any] | None = None, set: Mapping[str, Any] | None = None, matrices: Mapping[str, Any] | None = None, rtol: float | None = None, atol: float | None = None, start: Any = None, rows: int | None = False, one_sided: bool = False, out: Any = None) -> Gradient:
    """Exact derivatives of a result of a run by parameters and initial values (a list of names), through impacts, stick and slip.

    of      an expression at the end of the run, in which integral(x), mean(x), rms(x), max(x), min(x) run over it; "time of CONTACT.impact[N]", "EXPR at CONTACT.impact[N]"
    one_sided  accept derivatives at a grazing contact
    rows    also t, values and gradients at every step: 500 of event-driven unless step says otherwise
    out     a file, .h5 or .csv: the run as a result, from its start on, with columns "of by NAME", and "x by NAME" of every coordinate and rate
    SimulationError: there is no derivative, and why.
    """
    model = text_model(model, set, matrices)._written()
    d, g, err = c.GradientDef(), c.Gradient(), c.CError()
    alive = _define(d, model, scheme, step, end, options, rtol, atol, start)
    d.of, d.by, d.rows = of.encode(), c.strings([by] if isinstance(by, str) else by), rows
    d.one_sided = one_sided
    d.file = None if out is None else os.fsencode(out)
    status = lib.carom_gradient_find(ctypes.byref(g), ctypes.byref(d), ctypes.byref(err))
    del alive
    try:
        if status != c.OK:
            raise c.failure(err, status)
        return Gradient._make(g)
    finally:
        lib.carom_gradient_free(ctypes.byref(g))


class Fit(c.Made):
    """values, errors, confidence ({name: (low, high)}, 95 %), covariance (array, in the order of names), residual, points (rows of t, data, model),
    exact (were the derivatives exact?)."""
    _made_by = "carom.fit()"

    def _set_up(self, f):
        n = f.nfree
        self.names = [c.text(f.name[i]) for i in range(n)]
        value, error = _array(f.value, n), _array(f.error, n)
        self.values, self.errors = dict(zip(self.names, value.tolist())), dict(zip(self.names, error.tolist()))
        self.confidence = dict(zip(self.names, zip(_array(f.low, n).tolist(), _array(f.high, n).tolist())))  # within the bounds
        self.covariance = _array(f.covariance, n * n).reshape(n, n)
        self.residual, self.evaluations, self.scheme = f.residual, f.evaluations, c.text(f.scheme)
        self.exact, self.why_not_exact = f.differences == 0, c.text(f.not_exact) or None  # derivatives
        self.points = np.array([(p.t, p.data, p.model) for p in (f.point[i] for i in range(f.npoints))])

    def __repr__(self):
        return "<carom.Fit: " + ", ".join(f"{k} = {v:.6g} +- {self.errors[k]:.2g}" for k, v in self.values.items()) + ">"


def fit(model: Source, data: Any, *, free: Sequence[str], match: Mapping[str, str], bounds: Mapping[str, tuple[float | None, float | None]] | None = None, sigma: Mapping[str, float] | None = None, experiments: Sequence[Mapping[str, Any] | None] | None = None, scheme: str | None = None, step: Time | None = None, options: Mapping[str, Any] | None = None, set: Mapping[str, Any] | None = None, matrices: Mapping[str, Any] | None = None, rtol: float | None = None, atol: float | None = None, start: Any = None) -> Fit:
    """Fit free names (a list) to data: a CSV file, {"t": array, "column": array}, or a list of these.

    match     {"column": expression of the model, or "impact CONTACT"}
    bounds    {name: (low, high)}, None: no bound on that side; sigma {column: standard deviation}
    experiments   of each of the data, {name: value} of the run that they are compared with, values of inputs may be signals: "sin(t)",
              "signal.csv" or (t, values); None: as the model has it
    """
    model = text_model(model, set, matrices)
    d, f, err = c.FitDef(), c.Fit(), c.CError()
    settings, files = [], {}
    for i, x in enumerate(experiments or ()):
        pairs, texts = signal_texts(x, f"experiment{i}.")
        settings.append(",".join(pairs))
        files.update(texts)
    alive = _define(d, model, scheme, step, None, options, rtol, atol, start, files)
    sides = {k: tuple("" if x is None else repr(float(x)) for x in v) for k, v in (bounds or {}).items()}
    d.free, d.match = c.strings(free), c.strings(f"{k}={v}" for k, v in match.items())
    d.bounds, d.sigma = c.strings(f"{k}={v[0]}:{v[1]}" for k, v in sides.items()), c.strings(f"{k}={float(v)!r}" for k, v in (sigma or {}).items())
    with tempfile.TemporaryDirectory() as folder:
        d.data = c.strings([_file(x, folder, i) for i, x in enumerate(data if isinstance(data, (list, tuple)) else [data])])
        if experiments is not None:
            if len(experiments) != (len(data) if isinstance(data, (list, tuple)) else 1):
                raise c.InputError("experiments must have one entry for each of the data")
            d.settings = c.strings(settings)
        status = lib.carom_fit_find(ctypes.byref(f), ctypes.byref(d), ctypes.byref(err))
    del alive
    try:
        if status != c.OK:
            raise c.failure(err, status)
        return Fit._make(f)
    finally:
        lib.carom_fit_free(ctypes.byref(f))


def _file(data, folder, i):
    """Columns of numbers as a CSV file; shorter ones end with nan."""
    if isinstance(data, (str, os.PathLike)):
        return os.fspath(data)
    columns = {k: np.asarray(v, float).ravel() for k, v in data.items()}
    n = max((len(v) for v in columns.values()), default=0)
    name = os.path.join(folder, f"{i}.csv")
    with open(name, "w") as out:
        out.write(",".join(columns) + "\n")
        for r in range(n):
            out.write(",".join(repr(float(v[r])) if r < len(v) else "nan" for v in columns.values()) + "\n")
    return name
