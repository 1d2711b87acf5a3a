"""Optima and basins of attraction: `carom optimise`, `carom basins`."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Mapping, Sequence

import numpy as np

from . import _library as c
from ._dynamics import _define
from ._library import Source, Time, lib
from ._orbit import columns_of
from ._run import text_model
from ._study import _texts


def _list(pointer, n):
    return np.ctypeslib.as_array(pointer, (n,)).copy() if n else np.zeros(0)


class Optimum(c.Made):
    """The best that a search has found.

    values, start     {name: number}: the best; the model's
    objective         there; objective_start: with the model's values
    constraints       left sides less right sides, in the order given; multipliers: of active ones, nan of others
    gradient          {name: number} of the objective, nan where there is none
    slope             what is left of the gradient beside bounds and active constraints, relative
    kink              the gradient jumps there: the sequence of events changes
    history           {column: array} of all runs
    text              the model with these values, for run()
    """
    _made_by = "carom.optimise()"

    def _set_up(self, o, converged):
        names = [c.text(o.name[j]) for j in range(o.n)]
        self.values, self.start, self.gradient = (dict(zip(names, _list(x, o.n).tolist())) for x in (o.value, o.begin, o.gradient))
        self.objective, self.objective_start, self.slope, self.kink = o.objective, o.first, o.slope, bool(o.kink)
        self.constraints, self.multipliers = _list(o.subject, o.nsubject), _list(o.multiplier, o.nsubject)
        self.runs, self.derivatives, self.method, self.scheme = o.runs, o.derivatives, c.text(o.method), c.text(o.scheme)
        self.exact, self.why_not_exact = bool(o.exact), c.text(o.not_exact) or None
        self.history, self.text, self.converged = columns_of(o.history), c.text(o.text) if o.text else None, converged

    def __repr__(self):
        return f"<carom.Optimum: {self.objective:.6g}; " + ", ".join(f"{k} = {v:.6g}" for k, v in self.values.items()) + ">"


def optimise(model: Source, *, by: Mapping[str, tuple[float, float]], minimise: str | None = None, maximise: str | None = None, subject_to: Sequence[str] = (), method: str | None = None, restarts: int = 0, evaluations: int | None = None, tolerance: float | None = None, scheme: str | None = None, step: Time | None = None, end: Time | None = None, options: Mapping[str, Any] | None = None, set: Mapping[str, Any] | None = None, matrices: Mapping[str, Any] | None = None, rtol: float | None = None, atol: float | None = None, start: Any = None) -> Optimum:
    """Parameters between bounds (by={"c": (0, 10)}) with which a result of a run is least or largest, subject to constraints ("max(x) <= 1").

    SimulationError: not converged, or no admissible values; its attribute `best` is the best so far, or None.
    """
    if (minimise is None) == (maximise is None):
        raise c.InputError("give minimise= or maximise=")
    model = text_model(model, set, matrices)
    d, o, err = c.OptimiseDef(), c.Optimum(), c.CError()
    alive = _define(d, model, scheme, step, end, options, rtol, atol, start)
    d.maximise, d.of = maximise is not None, str(minimise if maximise is None else maximise).encode()
    d.by, d.subject = c.strings([f"{k}={low!r}:{high!r}" for k, (low, high) in by.items()]), c.strings([subject_to] if isinstance(subject_to, str) else list(subject_to))
    d.method, d.restarts, d.evaluations, d.tolerance = method and method.encode(), restarts, evaluations or 0, tolerance or 0
    status = lib.carom_optimise(ctypes.byref(o), ctypes.byref(d), ctypes.byref(err))
    del alive
    try:
        found = bool(o.value) and o.history.rows > 0
        if status != c.OK:
            failure = c.failure(err, status)
            failure.best = Optimum._make(o, False) if found else None
            raise failure
        return Optimum._make(o, True)
    finally:
        lib.carom_optimum_free(ctypes.byref(o))


class Basins(c.Made):
    """runs and attractors: {column: array}; runs["label"] is the attractor of each run, 0 where it ran away."""
    _made_by = "carom.basins()"

    def _set_up(self, b):
        self.runs, self.attractors = columns_of(b.runs), columns_of(b.attractors)

    def __repr__(self):
        return f"<carom.Basins: {len(self.runs['label'])} runs, {int(self.runs['label'].max(initial=0))} attractors>"


def basins(model: Source, axes: Any, *, section: str | None = None, observe: Any = None, count: int | None = None, transient: Time = 0.0, set: Mapping[str, Any] | None = None, workers: int | None = None, scheme: str | None = None, step: Time | None = None, end: Time | None = None, options: Mapping[str, Any] | None = None, rtol: float | None = None, atol: float | None = None, lanes: str = "off", gpu: bool = False) -> Basins:
    """Which initial values lead to which attractor.  axes as of sweep() with `observe`: {"x": "-2:2:41", "x'": numpy.linspace(-2, 2, 41)}.

    section    "every 2*pi", "x = 0 rising", "impact stop"; left out: every period of the forcing, or states of rest
    observe    expressions that tell section points apart; left out: the state
    """
    modes = ("off", "auto", "on")
    if lanes not in modes:
        raise c.InputError(f"lanes: expected auto, on or off, got {lanes!r}")
    source = text_model(model, set, None)
    d, b, err = c.BasinsDef(), c.Basins(), c.CError()
    d.sweep = lib.carom_sweep_default()
    alive = _define(d.sweep, source, scheme, step, end, options, rtol, atol, None)
    observe = [] if observe is None else [observe] if isinstance(observe, str) else list(observe)
    d.sweep.vary, d.sweep.observe = c.strings(_texts(axes)), c.strings(observe)
    d.sweep.section, d.sweep.count, d.sweep.transient = None if section is None else section.encode(), count or 0, c.seconds("transient", transient)
    d.sweep.jobs, d.sweep.lanes, d.sweep.gpu = workers or os.cpu_count() or 1, modes.index(lanes), gpu
    with c.Calm() as calm:
        tick = c.SWEEP_TICK(lambda user, done, total: not calm.interrupted)
        d.tick = ctypes.cast(tick, ctypes.c_void_p)
        status = lib.carom_basins_find(ctypes.byref(b), ctypes.byref(d), ctypes.byref(err))
    del alive
    try:
        if calm.interrupted:
            raise KeyboardInterrupt
        if status != c.OK:
            raise c.failure(err, status)
        return Basins._make(b)
    finally:
        lib.carom_basins_free(ctypes.byref(b))
