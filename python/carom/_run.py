"""Simulations: run to the end, or step by step."""
from __future__ import annotations

import contextlib
import ctypes
import math
import os
import time
from typing import Any, Iterator, Mapping, NamedTuple

import numpy as np

from . import _library as c
from ._library import Path, Source, Time, lib
from ._mechanism import Mechanism
from ._model import Model, System, _signals as signal_texts, view
from ._result import Ledger, Result


def as_model(model: Any, set: Any = None, matrices: Any = None, inputs: Any = None) -> Model | System:
    if isinstance(model, (Model, System)):
        if set or matrices or inputs:
            raise c.InputError("parameters, matrices and inputs are set when a model is read: Model(file, set=..., matrices=..., inputs=...)")
        return model
    if isinstance(model, Mechanism):
        signals, files = signal_texts(inputs)
        return model.model({**(set or {}), **dict(p.split("=", 1) for p in signals)}, {**(matrices or {}), **{name: text for name, (text, _) in files.items()}})
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError(f"a model is a file name, a text, a Model, a Mechanism or a System, not {type(model).__name__}")
    return Model(model, set, matrices=matrices, inputs=inputs)


def text_model(model: Any, set: Any = None, matrices: Any = None) -> Model:
    """The same where functions of Python have no place."""
    found = as_model(model, set, matrices)
    if isinstance(found, System):
        raise c.InputError("this needs a model file, its text, a Model or a Mechanism; a model with Python functions can only be run")
    return found


def run(model: Source, *, estimate: bool = False, scheme: str | None = None, step: Time | None = None,
        end: Time | None = None, options: Mapping[str, Any] | None = None, set: Mapping[str, Any] | None = None,
        adaptive: bool = False, rtol: float | None = None, atol: float | None = None, every: int | None = None,
        dt_out: Time | None = None, out: Path | None = None, matrices: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None, compile: str = "auto", event_rows: bool = False,
        compress: bool = False, units: bool = False, start: Any = None) -> Result:
    """Simulate to the end; a Result.  Arguments: see simulate().

    estimate: the run is repeated with smaller steps or tolerances, as by `carom run --estimate`; result.ledger["estimate"] has the errors.
    """
    sim = simulate(model, scheme=scheme, step=step, end=end, options=options, set=set, adaptive=adaptive, rtol=rtol,
                   atol=atol, every=every, dt_out=dt_out, out=out, matrices=matrices, inputs=inputs, compile=compile,
                   event_rows=event_rows, compress=compress, units=units, start=start)
    return sim.run(estimate)


def simulate(model: Source, *, scheme: str | None = None, step: Time | None = None, end: Time | None = None,
             options: Mapping[str, Any] | None = None, set: Mapping[str, Any] | None = None, adaptive: bool = False,
             rtol: float | None = None, atol: float | None = None, every: int | None = None,
             dt_out: Time | None = None, out: Path | None = None, matrices: Mapping[str, Any] | None = None,
             inputs: Mapping[str, Any] | None = None, compile: str = "auto", event_rows: bool = False,
             compress: bool = False, units: bool = False, start: Any = None) -> Simulation:
    """A Simulation that stands at its start.

    model      file name, text, Model or System
    scheme, step, end, options, set, adaptive, rtol, atol, every, dt_out, event_rows, compress, units, out: as in `carom run`; what is not given comes from
    the model's `simulation` section.  Times are seconds, or texts with a unit: step="2 ms".  options and set are dicts.  matrices, inputs: see Model.  Without `out` (.h5 or .csv) rows stay in memory.
    start: the initial state instead of the model's: a file (`carom equilibrium --save`, or a result, of which the last row counts), an
    Equilibrium, a Result, {"x": 1, "x'": 0} with what differs from the model, or (q, v).
    compile: "auto", "on" or "off", see Model.compile; "auto" decides before the first simulation of a model.
    """
    return Simulation._make(as_model(model, set, matrices, inputs), scheme, step, end, c.pairs(options), adaptive, rtol, atol, every, dt_out, out, compile,
                            event_rows, start, form=(compress, units))


def initial_state(model, start):
    """Positions and velocities of a model from a file, an Equilibrium, a Result, a dict or a pair of arrays."""
    if model is None:
        raise c.InputError("start: a System begins where its coordinates say")
    p, n = model._handle.pointer, model.sizes
    q, v, err = np.empty(n.coordinates), np.empty(n.velocities), c.CError()
    if isinstance(start, (str, os.PathLike)):
        status = lib.carom_state_read(p, os.fsencode(start), q.ctypes.data, v.ctypes.data, ctypes.byref(err))
        if status != c.OK:
            raise c.failure(err, status)
        return q, v
    if isinstance(start, tuple):
        if len(start) != 2 or np.shape(start[0]) != q.shape or np.shape(start[1]) != v.shape:
            raise c.InputError(f"start: (q, v) must be {n.coordinates} positions and {n.velocities} velocities")
        q[:], v[:] = start
    else:
        q[:], v[:] = view(lib.carom_model_q0(p), n.coordinates, model._handle), view(lib.carom_model_v0(p), n.velocities, model._handle)
        whole = not isinstance(start, dict)
        given = getattr(start, "state", start) if not isinstance(start, Result) else {k: start[k][-1] for k in model.coordinates + model.velocities if k in start.columns}
        places = {name: (x, i) for names, x in ((model.coordinates, q), (model.velocities, v)) for i, name in enumerate(names)}
        for name, value in given.items():
            if name not in places:
                raise c.InputError(f"start: the model has no coordinate or rate {name!r}")
            x, i = places[name]
            x[i] = value
        # friction alone stays as it is, and integrals of states are in no force
        unsaid = [name for name in places if name not in given and not name.endswith((".press", ".press'"))]
        if whole and any(not name.startswith("integral of ") for name in unsaid):
            raise c.InputError("start: this is a state of another model")
    if not (np.isfinite(q).all() and np.isfinite(v).all()):
        raise c.InputError("start: a state needs finite numbers")
    for i in range(n.velocities): # where equilibria have their values
        if lib.carom_model_state(p, i):
            q[i] = v[i]
    return q, v


def signals_at(model, values):
    """{name: value} of the signals of controllers, in the order of the model; outputs on their way have the name of the output."""
    held, first = {}, len(model.inputs)
    for i, value in enumerate(values):
        held.setdefault(c.text(lib.carom_model_signal(model._handle.pointer, first + i)), float(value))
    return held


def signals_of(model, start):
    """The values of inputs and of signals of controllers at the start, those of controllers from a file, an Equilibrium, an Orbit or a Result, where it has them; then the time at which it has all of them, or 0."""
    p = model._handle.pointer
    names = []
    while (name := lib.carom_model_signal(p, len(names))) is not None:
        names.append(c.text(name))
    x, err, inputs = np.zeros(len(names) + 1), c.CError(), len(model.inputs)
    if not names:
        return x
    file = os.fspath(start) if isinstance(start, (str, os.PathLike)) else None
    if file is not None:
        status = lib.carom_state_signals(p, os.fsencode(file), x.ctypes.data, ctypes.byref(err))
        if status != c.OK:
            raise c.failure(err, status)
        return x
    x[:-1] = view(lib.carom_model_signals(p), len(names), model._handle)
    held = getattr(start, "signals", None)  # an Equilibrium, an Orbit
    for i, name in enumerate(names[inputs:], inputs):
        if isinstance(held, dict) and name in held:
            x[i] = held[name]
        if isinstance(start, Result) and name in start.columns:
            x[i] = start[name][-1]
    if isinstance(start, Result) and len(names) > inputs and all(name in start.columns for name in names[inputs:]):
        x[-1] = start["t"][-1]
    return x


def _positive(name, x):
    if x is not None and not (x > 0 and math.isfinite(x)):
        raise c.InputError(f"{name} must be positive, got {x}")


def _resolve(model, scheme, step, end, options, adaptive, rtol, atol, dt_out):
    """Scheme, step, end, options, about how often the model will be evaluated and why the scheme was chosen, by the library's rules."""
    for name, x in (("rtol", rtol), ("atol", atol)):
        _positive(name, x)
    text = model if isinstance(model, Model) else model.base
    given, run, err = lib.carom_run_nothing(), c.Run(), c.CError()
    given.scheme, given.options, given.adaptive = scheme and scheme.encode(), c.strings(options), adaptive
    for name, x in (("step", step), ("end", end), ("rtol", rtol), ("atol", atol), ("interval", dt_out)):
        if x is not None:
            setattr(given, name, x)
    status = lib.carom_run_resolve(ctypes.byref(run), text and text._handle.pointer, ctypes.byref(given), ctypes.byref(err))
    try:
        if status != c.OK:
            raise c.failure(err, status)
        return c.text(run.scheme), run.step, run.end, c.listed(run.options), run.evaluations, run.chosen
    finally:
        lib.carom_run_free(ctypes.byref(run))


class Row:
    """One row of a record: row["x"], row.t, row.values."""
    __slots__ = ("values", "_place")

    def __init__(self, values, place):
        self.values, self._place = values, place

    @property
    def t(self) -> float:
        return self.values[0]

    def __getitem__(self, column):
        try:
            return self.values[self._place[column]]
        except KeyError:
            raise KeyError(f"no column {column!r}") from None

    def __repr__(self):
        return f"<carom.Row t = {self.t:.9g}>"


class Simulation(c.Made):
    """A simulation under way.  Not for two threads at once; several simulations are."""
    _made_by = "carom.simulate()"

    def _set_up(self, model, scheme, step, end, options, adaptive, rtol, atol, every, dt_out, out, compile="auto", event_rows=False,
                 start=None, begin=0.0, form=(False, False)):
        step, end, dt_out = c.seconds("step", step), c.seconds("end", end), c.seconds("dt_out", dt_out)
        for name, x in (("step", step), ("end", end), ("every", every), ("dt_out", dt_out)):
            _positive(name, x)
        if every is not None and dt_out is not None:
            raise c.InputError("every and dt_out say the same thing twice; give one of them")
        if every is not None and every != int(every):
            raise c.InputError(f"every: {every} is not a whole number")
        if out is not None and not os.fspath(out).endswith((".h5", ".csv")):
            raise c.InputError(f"out: {os.fspath(out)!r} ends neither in .h5 nor in .csv")
        self.model = model
        self.scheme, self.step, self.end, options, evaluations, self._chosen = _resolve(model, scheme, step, end, options, adaptive, rtol, atol, dt_out)
        text = model if isinstance(model, Model) else model.base
        if text:
            text._compile_once(compile, evaluations)
        self.out = None if out is None else os.fspath(out)
        self._given = options, adaptive, rtol, atol, every, dt_out, compile, event_rows
        self._begin, self._form = begin, form
        self._result = None
        self._bound = model._bind()
        self._functions = self._bound.functions
        if start is not None and not (isinstance(start, tuple) and len(start) == 3):
            start = (*initial_state(text, start), signals_of(text, start))
        self._start = start  # keeps the arrays
        self._create(options)
        self._open(options, every, dt_out, event_rows)
        self.columns = [c.text(lib.carom_record_column(self._record, i)) for i in range(lib.carom_record_columns(self._record))]
        self._place = {name: i for i, name in enumerate(self.columns)}

    @property
    def q(self) -> np.ndarray:
        """Positions, always the present ones; where they lie may change between steps."""
        return self._live(lib.carom_sim_now(self._sim).q, self._bound.nq)

    @property
    def v(self) -> np.ndarray:
        return self._live(lib.carom_sim_now(self._sim).v, self._bound.nv)

    @property
    def gaps(self) -> np.ndarray:
        return self._live(lib.carom_sim_now(self._sim).gap, self._bound.ng)

    @property
    def inputs(self) -> dict[str, float]:
        """The present values of the model's inputs."""
        names = self._inputs()
        return dict(zip(names, view(lib.carom_sim_inputs(self._sim), len(names)).tolist())) if names else {}

    def set_inputs(self, given: Any = None, **more: Any) -> None:
        """Other values of inputs from now on: sim.set_inputs(F=3) or sim.set_inputs({"F": 3}), between two steps."""
        names, err = self._inputs(), c.CError()
        for name, value in {**(given or {}), **more}.items():
            if name not in names:
                raise c.InputError(f"the model has no input {name!r}; it has {', '.join(names) if names else 'none'}")
            status = lib.carom_sim_input(self._sim, names.index(name), float(value), ctypes.byref(err))
            if status != c.OK:
                raise c.failure(err, status)

    def changed(self, state: Mapping[str, float] | None = None, set: Mapping[str, Any] | None = None, out: Path | None = None) -> Simulation:
        """A Simulation that goes on from here, at this time, with positions, rates or parameters changed: sim = sim.changed({"x'": 2}, set={"m": 0.4}).

        It has its own rows, events and ledger; finish() gives those of this one.  Inputs and states of controllers stay.
        """
        if not isinstance(self.model, Model):
            raise c.InputError("changed: a System of Python functions begins where its coordinates say; give it a Model")
        model = self.model
        if set:
            model = Model._made_again(model, c.pairs(set))
        options, adaptive, rtol, atol, every, dt_out, compile, event_rows = self._given
        if self.end <= self.t:
            raise c.InputError(f"changed: the simulation has reached its end, t = {self.t:g}")
        here = {**dict(zip(model.coordinates, self.q.tolist())), **dict(zip(model.velocities, self.v.tolist()))}
        unknown = [name for name in state or {} if name not in here]
        if unknown:
            raise c.InputError(f"changed: the model has no coordinate or rate {unknown[0]!r}")
        here.update(state or {})
        start = np.array([here[n] for n in model.coordinates]), np.array([here[n] for n in model.velocities])
        signals = signals_of(model, start)
        if len(signals) > 1:
            signals[:-1], signals[-1] = view(lib.carom_sim_inputs(self._sim), len(signals) - 1), self.t
        return Simulation._make(model, self.scheme, self.step, self.end, options, adaptive, rtol, atol, every, dt_out, out, compile, event_rows, (*start, signals), self.t, self._form)

    def _inputs(self):
        text = self.model if isinstance(self.model, Model) else self.model.base
        return list(text.inputs) if text else []

    def _live(self, pointer, n):
        x = view(pointer, n, self._bound.handle) if n else np.zeros(0)
        x.flags.writeable = False
        return x

    def _calm(self):
        return self._functions.calm if self._functions else contextlib.nullcontext()

    def _failed(self, err, status=None):
        """The exception for a failure: that of a Python function, if there was one."""
        if self._functions and self._functions.error is not None:
            return self._functions.error
        return c.failure(err, status)

    def _definition(self, options):
        b = self._bound
        d = lib.carom_sim_default()
        d.system, d.schemes = b.system, lib.carom_schemes()
        d.scheme, d.options = self.scheme.encode(), c.strings(options)
        d.t0, d.h, d.t_end, d.q0, d.v0 = self._begin, self.step, self.end, b.q0, b.v0
        if self._start:
            d.q0, d.v0, signals = (x.ctypes.data for x in self._start)
            if len(self._start[2]) > 1:
                d.input, d.input_t = signals, self._start[2][-1]
        d.name, d.rate_name, d.name_user, d.size = b.name, b.rate_name, b.name_user, b.size
        return d

    def _create(self, options):
        b, err = self._bound, c.CError()
        d = self._definition(options)
        d.choice = self._chosen or None
        with self._calm():
            pointer = lib.carom_sim_create(ctypes.byref(d), ctypes.byref(err))
        if not pointer:
            raise self._failed(err)
        b.handle.add(pointer, lib.carom_sim_destroy)
        self._sim = pointer
        if self._functions:
            self._functions.raise_error()
            self._functions.owner = b.handle

    def _open(self, options, every, dt_out, event_rows):
        b, err = self._bound, c.CError()
        d = lib.carom_record_default()
        d.sim, d.step, d.end, d.every, d.dt_out = self._sim, self.step, self.end, int(every or 0), dt_out or 0.0
        d.event_rows = bool(event_rows)
        d.compress, d.units = (bool(x) for x in self._form)
        d.options = c.strings(options)
        d.memory = self.out is None
        d.file = None if self.out is None else self.out.encode()
        if b.model:
            d.model, d.text, d.length = b.model._handle.pointer, b.model._data, len(b.model._data)
            d.model_file, d.set = b.model.file.encode(), c.strings(b.model._set)
        names = [c.strings(n) if n is not None else None for n in (b.coordinates, b.constraints)]
        d.coordinates, d.constraints = names
        with self._calm():
            pointer = lib.carom_record_create(ctypes.byref(d), ctypes.byref(err))
        if not pointer:
            raise self._failed(err)
        b.handle.add(pointer, lib.carom_record_destroy)
        self._recorder = pointer

    @property
    def _record(self):
        if self._result is not None:
            raise c.InputError("this simulation is finished")
        return self._recorder

    # -- where it stands --------------------------------------------------------------------------------------

    @property
    def t(self) -> float:
        return lib.carom_sim_now(self._sim).t

    @property
    def n(self) -> int:
        """Steps done."""
        return lib.carom_sim_now(self._sim).step

    @property
    def done(self) -> bool:
        return bool(lib.carom_sim_done(self._sim))

    @property
    def ledger(self) -> Ledger | None:
        """The ledger as of now."""
        if self._result is not None:
            return self._result.ledger
        err = c.CError()
        with self._calm():
            l = lib.carom_ledger_of_record(self._record, ctypes.byref(err))
        if not l:
            raise self._failed(err, err.code)
        return Ledger.of(l)

    # -- going on -----------------------------------------------------------------------------------------------

    def _advance(self, steps, rows):
        err = c.CError()
        with self._calm():
            status = lib.carom_record_advance(self._record, steps, rows, ctypes.byref(err))
        if self._functions and self._functions.calm.interrupted and self._functions.error is None:
            self._functions.error = KeyboardInterrupt()
        if status != c.OK or (self._functions and self._functions.error is not None):
            e = self._failed(err, status)
            self._finish("failed", str(e))
            if isinstance(e, c.Error):
                e.result = self._result
            raise e

    def advance(self, steps: int | None = None) -> Simulation:
        """Go on by so many steps, or to the end.  Ctrl-C is heard."""
        if steps is not None and steps < 1:
            raise c.InputError(f"steps: {steps} is less than one")
        left, portion, flushed = steps, 64, time.monotonic()
        while not self.done and (left is None or left > 0):
            n = portion if left is None else min(portion, left)
            began = time.monotonic()
            self._advance(n, 0)
            left = None if left is None else left - n
            now = time.monotonic()
            portion = min(2 * portion, 1 << 40) if now - began < 0.05 else max(1, portion // 2) if now - began > 0.2 else portion
            if self.out and now - flushed > 0.5:
                self._flush()
                flushed = now
        return self

    def _flush(self):
        err = c.CError()
        if lib.carom_record_flush(self._record, ctypes.byref(err)) != c.OK:
            raise self._failed(err)

    def steps(self, each: int = 1) -> Iterator[float]:
        """Go on, giving the time after every step (every `each` steps); q, v and gaps hold the state."""
        while not self.done:
            self._advance(each, 0)
            yield self.t

    def rows(self) -> Iterator[Row]:
        """Go on, giving every row that is recorded, the first one included; only in memory."""
        if self.out is not None:
            raise c.InputError("rows that go to a file cannot be given at the same time; leave `out` out")
        given = 0
        while self._result is None:
            while given < lib.carom_record_rows(self._record):
                yield Row(view(lib.carom_record_row(self._record, given), len(self.columns)).copy(), self._place)
                given += 1
                if self._result is not None:  # finished by who got the row
                    return
            if self.done:
                break
            self._advance(0, 1)
        for values in self.finish().data[given:]:  # a last row may be there only because the run has ended
            yield Row(values.copy(), self._place)

    def __iter__(self):
        return self.rows()

    # -- the end --------------------------------------------------------------------------------------------------

    def _estimate(self):
        options, dt_out, err = self._given[0], self._given[5], c.CError()
        if self._functions or not isinstance(self.model, Model):
            raise c.InputError("estimate: a System of Python functions cannot be repeated; give it a Model")
        d = self._definition(options)
        pointer = lib.carom_estimate_create(c.EstimateDef(model=self.model._handle.pointer, sim=ctypes.pointer(d), dt_out=c.seconds("dt_out", dt_out) or 0.0), ctypes.byref(err))
        if not pointer:
            raise c.failure(err)
        self._bound.handle.add(pointer, lib.carom_estimate_destroy)
        status = lib.carom_estimate_run(pointer, c.TICK(), None, ctypes.byref(err))
        if status != c.OK:
            raise c.failure(err, status)
        lib.carom_record_estimate(self._record, lib.carom_estimate_text(pointer))

    def run(self, estimate: bool = False) -> Result:
        """To the end; the Result.  A run that Ctrl-C or a failure ends is finished, too, and its file closed.  estimate: see run()."""
        try:
            self.advance()
            if estimate:
                self._estimate()
        except BaseException as e:
            if self._result is None:
                self._finish("interrupted", type(e).__name__)
            raise
        return self.finish()

    def finish(self) -> Result:
        """Stop here; the Result."""
        if self._result is None:
            self._finish("done" if self.done else "interrupted", None)
            if self._functions:
                self._functions.raise_error()
        result: Any = self._result
        return result

    def _finish(self, word, why):
        p, err = self._record, c.CError()
        checks = self._judge() if word == "done" else []
        with self._calm():
            status = lib.carom_record_finish(p, word.encode(), None if why is None else why.encode(), ctypes.byref(err))
        if self.out is None:
            taken = lib.carom_record_result(p, ctypes.byref(c.CError()))
            self._result = Result._make(c.Handle().add(taken, lib.carom_result_close), checks=checks)
        else:
            self._result = Result.open(self.out, checks=checks)
        self._bound.handle.drop()  # the recorder
        if self._functions:
            self._functions.release()
        if status != c.OK and word != "failed":
            raise self._failed(err, status)

    def _judge(self):
        """The model's checks: (text, met, left, right)."""
        n = self._bound.model.sizes.checks if self._bound.model else 0
        found, text, x, y, err = [], ctypes.c_char_p(), ctypes.c_double(), ctypes.c_double(), c.CError()
        for i in range(n):
            met = lib.carom_record_check(self._record, i, ctypes.byref(text), ctypes.byref(x), ctypes.byref(y), ctypes.byref(err))
            found.append((c.text(text.value), bool(met), x.value, y.value))
        return found

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self._result is None:
            self._finish("done" if self.done else "interrupted", None if kind is None else kind.__name__)

    def __repr__(self):
        return f"<carom.Simulation {self.scheme}, t = {self.t:.9g} of {self.end:.9g}, {self.n} steps>"


class Finding(NamedTuple):
    """One line of `carom check`: kind is "ok", "warning" or "fault"."""
    kind: str
    text: str


def check(model: Source, *, set: Mapping[str, Any] | None = None, matrices: Mapping[str, Any] | None = None,
          inputs: Mapping[str, Any] | None = None) -> list[Finding]:
    """Is this model sound?  What `carom check` finds: derivatives, mass matrix, initial constraints, degrees of freedom, unused names.

    A model that cannot be read raises InputError.
    """
    source, found, err = as_model(model, set, matrices, inputs), [], c.CError()
    if not isinstance(source, Model):
        raise c.InputError("check: a System of Python functions has no text to check; give it a Model")
    kinds = ("ok", "warning", "fault")
    report = c.FINDING(lambda user, kind, text: found.append(Finding(kinds[kind], text.decode("utf-8", "replace"))))
    if lib.carom_model_examine(source._handle.pointer, report, None, ctypes.byref(err)) < 0:
        raise c.failure(err)
    return found
