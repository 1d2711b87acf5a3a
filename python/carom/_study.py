"""Many runs: schemes against a reference, and grids of parameters."""
from __future__ import annotations

import builtins
import concurrent.futures
import ctypes
import itertools
import math
import os
from typing import Any, Mapping, Sequence

import numpy as np

from . import _html, _library as c
from ._library import Source, Time, lib
from ._model import Model, System
from ._run import as_model, initial_state, run, signals_of, text_model


# -- schemes x step sizes ----------------------------------------------------------------------------------------------

class Comparison(c.Made):
    """Rows as dicts with scheme, step, tolerance, error, order, steps, rejected, seconds, failure; None where there is no number."""
    _made_by = "carom.compare()"

    def _set_up(self, rows, orders, reference, names, norm):
        self.rows, self.orders, self.reference, self.names, self.norm = rows, orders, reference, names, norm

    def of(self, scheme):
        """Steps (tolerances of adaptive runs) and errors of one scheme, as two arrays."""
        rows = [r for r in self.rows if r["scheme"] == scheme]
        if not rows:
            raise KeyError(f"no scheme {scheme!r} here; there are {', '.join(self.orders)}")
        return (np.array([r["step"] if r["step"] is not None else r["tolerance"] for r in rows]),
                np.array([math.nan if r["error"] is None else r["error"] for r in rows]))

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row per run."""
        import pandas
        frame = pandas.DataFrame(self.rows)
        frame.attrs.update(reference=self.reference, norm=self.norm)
        return frame

    def plot(self, axes: Any = None) -> Any:
        """Error over step with matplotlib; the axes."""
        import matplotlib.pyplot as plt
        axes = axes if axes is not None else plt.subplots(figsize=(5, 4), constrained_layout=True)[1]
        for scheme in self.orders:
            axes.loglog(*self.of(scheme), "o-", label=scheme)
        axes.set_xlabel("step")
        axes.set_ylabel(f"error ({self.norm})")
        axes.legend(frameon=False)
        return axes

    def _repr_html_(self):
        keys = ("scheme", "step", "tolerance", "error", "order", "steps", "seconds")
        rows = [["" if r[k] is None else _html.number(r[k]) for k in keys] for r in self.rows]
        return f"<div>reference: {_html.escape(self.reference)}; norm {self.norm}</div>" + _html.table(keys, rows)

    def __repr__(self):
        return f"<carom.Comparison of {', '.join(self.orders)} with {self.reference}: {len(self.rows)} runs>"


def compare(model: Source, schemes: Sequence[str] | None = None, steps: Any = None, *, tolerances: Sequence[float] | None = None, first: float | None = None, end: Time | None = None, options: Mapping[str, Any] | None = None, set: Mapping[str, Any] | None = None, reference: Any = None,
            norm: str = "l1", of: Any = None, threads=None) -> Comparison:
    """Schemes x step sizes or tolerances against a reference, as `carom compare`; a Comparison.

    schemes are texts with their options, "moreau-jean:theta=1"; reference is "SCHEME:STEP", a result file or "exact".  A run that fails
    says so in its row.  Models with Python functions cannot be compared: they run one at a time.
    """
    model = as_model(model, set)
    if isinstance(model, System):
        raise c.InputError("compare wants a model file or its text; a model with Python functions runs one at a time")
    file = model.simulation
    schemes = [schemes] if isinstance(schemes, str) else list(schemes or [file.scheme or c.text(lib.carom_sim_default().scheme)])
    end = c.seconds("end", end) if end is not None else file.end
    if steps is None and tolerances is None:
        if file.step is None:
            raise c.InputError("the step sizes are missing; give steps=[...]")
        steps = [k * file.step for k in (8, 4, 2, 1)]
    if end is None:
        raise c.InputError("the end time is missing; give end=T, or `end:` in the model's simulation section")
    d, err = lib.carom_compare_default(), c.CError()
    if lib.carom_compare_norm(ctypes.byref(d), norm.encode(), ctypes.byref(err)) != c.OK:
        raise c.failure(err)
    d.model, d.schemes, d.end, d.first = model._handle.pointer, c.strings(schemes), end, first or 0.0
    for name, x in (("steps", steps), ("tolerances", tolerances)):
        x = [float(c.seconds(name, y)) for y in (x if x is not None else [])]
        setattr(d, name, (ctypes.c_double * max(1, len(x)))(*x))
        setattr(d, "n" + name, len(x))
    d.options = c.strings(c.pairs(options))
    d.reference = None if reference is None else os.fspath(reference).encode()
    d.of = None if of is None else c.strings([of] if isinstance(of, str) else of)
    d.threads = threads or os.cpu_count() or 1
    pointer = lib.carom_compare_create(ctypes.byref(d), ctypes.byref(err))
    if not pointer:
        raise c.failure(err)
    handle = c.Handle(model._handle).add(pointer, lib.carom_compare_destroy)
    _race(handle.pointer, err)
    return _read(handle.pointer, norm)


def _race(pointer, err):
    with c.Calm() as calm:
        watch = c.CompareWatch(None, None, c.TICK(lambda user, fraction: not calm.interrupted))
        status = lib.carom_compare_run(pointer, ctypes.byref(watch), ctypes.byref(err))
    if calm.interrupted:
        raise KeyboardInterrupt
    if status != c.OK:
        raise c.failure(err, status)


def _read(pointer, norm):
    rows, orders = [], {}
    for s in range(lib.carom_compare_schemes(pointer)):
        for k in range(lib.carom_compare_runs(pointer, s)):
            r = lib.carom_compare_row_at(pointer, s, k)
            row = {n: getattr(r, n) for n in ("step", "tolerance", "error", "order", "seconds")}
            rows.append({"scheme": c.text(r.scheme), **{n: None if x != x else x for n, x in row.items()}, "steps": r.steps,
                         "rejected": r.rejected, "failure": c.text(r.failure)})
        x = lib.carom_compare_order(pointer, s)
        orders[c.text(lib.carom_compare_row_at(pointer, s, 0).scheme)] = None if x != x else x
    names, i = [], 0
    while lib.carom_compare_name(pointer, i):
        names.append(c.text(lib.carom_compare_name(pointer, i)))
        i += 1
    return Comparison._make(rows, orders, c.text(lib.carom_compare_reference(pointer, ctypes.byref(ctypes.c_double()))), names, norm)


# -- grids of parameters -------------------------------------------------------------------------------------------------

class Sweep(c.Made):
    """A grid of runs.  axes: {parameter: values}; points: a dict of parameters per run, the last one fastest.

    sweep["penetration"] is an array in the shape of the grid; results are the Results (without `of`), errors {index: exception}.
    """
    _made_by = "carom.sweep()"

    def _set_up(self, axes, points, found, errors):
        self.axes, self.points, self.errors = axes, points, errors
        self.shape = tuple(len(x) for x in axes.values())
        self.results = None if any(isinstance(f, dict) for f in found) else found
        self._values = {} if self.results is not None else found

    @property
    def names(self):
        first = next((f for f in self._values if f), {})
        return list(first)

    def __getitem__(self, name):
        if self.results is not None:
            values = [math.nan if r is None else _pick(r, name) for r in self.results]
        else:
            values = [f[name] if f else math.nan for f in self._values]
        return np.array(values).reshape(self.shape)

    def __len__(self):
        return len(self.points)

    def to_pandas(self, *names: str) -> Any:
        """A pandas.DataFrame with a row per run: its parameters, and numbers by name (default: what `of` chose)."""
        import pandas
        chosen = names or self.names
        return pandas.DataFrame({**{k: [p[k] for p in self.points] for k in self.axes}, **{n: self[n].ravel() for n in chosen}})

    def _repr_html_(self):
        names = self.names
        columns = {n: self[n].ravel() for n in names}
        rows = [[_html.number(v) for v in p.values()] + [_html.number(float(columns[n][i])) for n in names] for i, p in enumerate(self.points)]
        return _html.table(list(self.axes) + names, rows[:200])

    def __repr__(self):
        return f"<carom.Sweep over {' x '.join(f'{k} ({len(v)})' for k, v in self.axes.items())}>"


def _pick(result, name):
    """A number of a result by name: of the ledger, or the last value of a column."""
    if name in result:
        return float(result[name][-1])
    try:
        x = result.ledger[name]
    except KeyError:
        raise c.InputError(f"{name!r} is neither in the ledger nor a column") from None
    return math.nan if x is None else x


def _one(model, point, of, given):
    if callable(model):
        result = run(model(**point), **given)
    else:
        data, file, fixed, matrices = model
        result = run(Model(data, {**fixed, **point}, file, matrices), **given)
    if of is None:
        return result
    found = of(result) if callable(of) else {name: _pick(result, name) for name in of}
    return found if isinstance(found, dict) else {"value": found}


class Table(c.Made):
    """Runs of a sweep, as arrays by name.  table["mu"], table["max(x)"], table.status, table.messages; table.section["t"] and so on at section
    points, table.section["run"] says whose; table.direction: +1 up, -1 down, 0 where runs do not follow each other."""
    _made_by = "carom.sweep() and carom.bifurcation()"

    def _set_up(self, names, observe, rows):
        self.names, self.observed = list(names), list(observe)
        rows = sorted(rows, key=lambda r: r[0])
        self.run = np.array([r[0] for r in rows])
        self.direction = np.array([r[1] for r in rows])
        self.status = np.array([r[3] for r in rows])
        self.messages = [r[4] for r in rows]
        self._columns = {n: np.array([r[2][i] for r in rows]) for i, n in enumerate(self.names)}
        self._columns.update({n: np.array([r[5][i] for r in rows]) for i, n in enumerate(self.observed)})
        points = [np.column_stack([np.full(len(r[6]), float(r[0])), r[6]]) for r in rows if len(r[6])]
        points = np.concatenate(points) if points else np.zeros((0, 2 + len(self.observed)))
        self.section = {n: points[:, i] for i, n in enumerate(["run", "t"] + self.observed)}
        self.section["run"] = self.section["run"].astype(int)

    def __getitem__(self, name):
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"no column {name!r}; there are {', '.join(self._columns)}") from None

    def __len__(self):
        return len(self.run)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row per run; sections: pandas.DataFrame(table.section)."""
        import pandas
        return pandas.DataFrame({"run": self.run, **{n: self._columns[n] for n in self.names}, "status": self.status, "message": self.messages,
                                 **{n: self._columns[n] for n in self.observed}})

    def __repr__(self):
        return f"<carom.Table of {len(self)} runs over {', '.join(self.names)}>"


def _texts(axes):
    """NAME=SPEC for the engine: texts as they are, numbers as a list."""
    return [f"{k}={v}" if isinstance(v, str) else f"{k}=" + ",".join(repr(float(x)) for x in v) for k, v in axes.items()]


def _engine(model, axes, observe, section, count, transient, follow, zip, set, workers, scheme=None, step=None, end=None, options=None,
            adaptive=False, rtol=None, atol=None, lanes="off", gpu=False, start=None):
    source = model if isinstance(model, Model) else Model(model)
    observe = [observe] if isinstance(observe, str) else list(observe)
    follows = (None, "up", "down", "both")
    if follow not in follows:
        raise c.InputError(f"follow: expected up, down or both, got {follow!r}")
    modes = ("off", "auto", "on")
    if lanes not in modes:
        raise c.InputError(f"lanes: expected auto, on or off, got {lanes!r}")
    d, err, n = lib.carom_sweep_default(), c.CError(), len(axes)
    texts = (c.MatrixText * max(1, len(source._matrices)))(
        *(c.MatrixText(name.encode(), text, len(text), place.encode()) for name, (text, place) in source._matrices.items()))
    d.model = c.ModelDef(source._data, len(source._data), source.file.encode(), c.strings(source._set + c.pairs(set)), texts, len(source._matrices), None)
    state = None if start is None else np.concatenate(initial_state(source, start))
    signals = None if start is None else signals_of(source, start)
    d.start, d.signals = (None, None) if state is None else (state.ctypes.data, signals.ctypes.data)
    d.vary, d.zip, d.observe = c.strings(_texts(axes)), zip, c.strings(observe)
    d.section, d.count, d.transient = None if section is None else section.encode(), count or 0, c.seconds("transient", transient)
    d.follow, d.jobs = follows.index(follow), workers or os.cpu_count() or 1
    d.lanes, d.gpu = modes.index(lanes), gpu
    d.run.scheme, d.run.options, d.run.adaptive = None if scheme is None else scheme.encode(), c.strings(c.pairs(options)), adaptive
    for name, x in (("step", step), ("end", end), ("rtol", rtol), ("atol", atol)):
        setattr(d.run, name, math.nan if x is None else float(c.seconds(name, x)))
    pointer = lib.carom_sweep_create(ctypes.byref(d), ctypes.byref(err))
    if not pointer:
        raise c.failure(err)
    handle, rows = c.Handle(source._handle).add(pointer, lib.carom_sweep_destroy), []

    def on_row(user, row):
        r = row.contents
        section = np.ctypeslib.as_array(r.section, (r.points, 1 + len(observe))).copy() if r.points else np.zeros((0, 1 + len(observe)))
        rows.append((r.run, r.direction, [r.vary[i] for i in range(n)], r.status, c.text(r.message), [r.observed[i] for i in range(len(observe))], section))
        return True

    with c.Calm() as calm:
        watch = c.SweepWatch(None, c.SWEEP_ROW(on_row), c.SWEEP_TICK(lambda user, done, total: not calm.interrupted))
        status = lib.carom_sweep_run(handle.pointer, ctypes.byref(watch), ctypes.byref(err))
    if calm.interrupted:
        raise KeyboardInterrupt
    if status != c.OK:
        raise c.failure(err, status)
    return Table._make(axes, observe, rows)


def bifurcation(model: Source, name: str, values: Any, observe: Any, *, section: str | None, transient: Time, count: int | None, follow: str | None = None, **given: Any) -> Any:
    """Section points over a parameter, as `carom sweep`: two arrays, to plot as dots.

        g, x = carom.bifurcation("table.yaml", "gamma", numpy.linspace(1, 2, 400), "x", section="every 2*pi", transient=200, count=50)
    """
    table = sweep(model, {name: values}, observe=[observe], section=section, transient=transient, count=count, follow=follow, **given)
    return table[name][np.searchsorted(table.run, table.section["run"])], table.section[observe]


def sweep(model: Source, axes: Any, of: Any = None, *, observe: Any = None, section: str | None = None, count: int | None = None, transient: Time = 0.0, follow: str | None = None, zip: bool = False, set: Mapping[str, Any] | None = None, workers: int | None = None,
          processes=False, errors="raise", **given: Any) -> Any:
    """Run a grid of parameters, several at a time; a Sweep, or with `observe` a Table.

    With `observe` (an expression or a list of them) the engine of `carom sweep` does it: axes may also hold SPEC texts ("0:1:11", "log:1:100:5")
    and initial values ("x", "x'"); section, count, transient, follow and zip are those of the program, and so are lanes="on" and
    gpu=True, many runs at once.  Without it:

    model      a model file or its text, or a function of the parameters that gives a Model or System
    axes       {"e": [0, 0.5, 1], "m": numpy.linspace(1, 2, 10)}
    of         what to keep of a run: names (of the ledger, or columns: their last value), or a function of the Result that gives a
               number or a dict; without it, all Results stay in memory
    processes  in processes instead of threads, which pays for Python functions: model and `of` must then be importable
    errors     "raise", or "keep": a run that fails is NaN, and in Sweep.errors
    given      arguments of run()
    """
    if observe is not None:
        if of is not None or processes or callable(model):
            raise c.InputError("`observe` wants a model file or its text, and neither `of` nor `processes`")
        return _engine(model, axes, observe, section, count, transient, follow, zip, set, workers, **given)
    if section or count or transient or follow or zip:
        raise c.InputError("section, count, transient, follow and zip belong to `observe`")
    if errors not in ("raise", "keep"):
        raise c.InputError(f"errors: {errors!r} is neither 'raise' nor 'keep'")
    of = [of] if isinstance(of, str) else of
    axes = {k: list(v) for k, v in axes.items()}
    points = [dict(builtins.zip(axes, p)) for p in itertools.product(*axes.values())]
    job: Any = model
    if not callable(model):
        source = text_model(model)
        job = (source.text, source.file, dict(p.split("=", 1) for p in source._set + c.pairs(set)),
               {name: text for name, (text, _) in source._matrices.items()})
    pool = concurrent.futures.ProcessPoolExecutor if processes else concurrent.futures.ThreadPoolExecutor
    found, failed = [None] * len(points), {}
    with pool(workers or os.cpu_count() or 1) as team:
        futures = [team.submit(_one, job, p, of, given) for p in points]
        try:
            for i, future in enumerate(futures):
                try:
                    found[i] = future.result()
                except Exception as e:
                    if errors == "raise":
                        raise
                    failed[i] = e
        except BaseException:
            for future in futures:
                future.cancel()
            raise
    return Sweep._make(axes, points, [f if f is not None or of is None else {} for f in found], failed)
