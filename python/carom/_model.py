"""Models: from text, from Python functions, or from both."""
from __future__ import annotations

import copy
import ctypes
import math
import numbers
import os
import threading
import types
from typing import Any, Mapping

import numpy as np

from . import _library as c
from ._library import Path, lib


def _matrix(name, given):
    """(text, name of its file) of a matrix: from a file, its text (it has line breaks), an array, or a sparse matrix of SciPy."""
    if isinstance(given, bytes):
        return given, name
    if isinstance(given, str) and "\n" in given:
        return given.encode(), name
    if isinstance(given, (str, os.PathLike)):
        try:
            with open(given, "rb") as f:
                return f.read(), os.fspath(given)
        except OSError as e:
            raise c.FileError(f"cannot read {given}: {e.strerror}") from None
    if hasattr(given, "tocoo"):
        given = given.tocoo()
        shape, entries = given.shape, zip(given.row, given.col, given.data)
    else:
        given = np.atleast_2d(np.asarray(given, dtype=float).T).T  # a list of numbers is a column
        shape, entries = given.shape, ((i, j, given[i, j]) for i, j in zip(*np.nonzero(given)))
    lines = [f"{i + 1} {j + 1} {float(x)!r}\n" for i, j, x in entries]
    return f"%%MatrixMarket matrix coordinate real general\n{shape[0]} {shape[1]} {len(lines)}\n{''.join(lines)}".encode(), name


def matrix_texts(matrices):
    return {name: _matrix(name, x) for name, x in (matrices or {}).items()}


def _files(data, file, texts):
    """texts with the files that the model names (tables, meshes, heights), from its directory and below it, as `carom run` reads them."""
    given = [(name.encode(), text) for name, (text, _) in texts.items()]
    libc_list, n, err = ctypes.POINTER(c.MatrixText)(), ctypes.c_int(0), c.CError()
    status = lib.carom_model_files(data, len(data), os.fsencode(file), ctypes.byref(libc_list), ctypes.byref(n), ctypes.byref(err))
    try:
        known = {name for name, _ in given}
        if status != c.OK:
            return texts if known else _refuse(err, status)
        return {**{m.name.decode(): (ctypes.string_at(m.text, m.length), m.name.decode()) for m in libc_list[:n.value]}, **texts}
    finally:
        lib.carom_model_files_free(libc_list, n)


def _refuse(err, status):
    raise c.failure(err, status)


def _signals(inputs, prefix=""):
    """Overrides and texts of files for inputs: numbers, expressions of t, CSV files, or arrays (t, values)."""
    pairs, texts = [], {}
    for name, given in (inputs or {}).items():
        if isinstance(given, os.PathLike) or (isinstance(given, str) and given.endswith(".csv")):
            file = os.fspath(given)
            texts[file] = _matrix(file, file)
            pairs.append(f"{name}={file}")
        elif isinstance(given, (str, int, float, np.number)):
            pairs.append(f"{name}={given if isinstance(given, str) else repr(float(given))}")
        else:
            t, y = (np.asarray(x, dtype=float) for x in given)
            if t.shape != y.shape or t.ndim != 1:
                raise c.InputError(f"inputs: {name} is a number, an expression, a CSV file or (t, values), two arrays of one length")
            file = f"{prefix}{name}.csv"
            texts[file] = ("t,y\n" + "".join(f"{a!r},{b!r}\n" for a, b in zip(t.tolist(), y.tolist()))).encode(), file
            pairs.append(f"{name}={file}")
    return pairs, texts


class Model:
    """A model file, or its text (anything with a line break in it).

    `set` overrides parameters: {"m": 3} or {"m": "2*l"}.  `matrices` are those that the model names: {"K": "frame.mtx"}, or
    arrays and sparse matrices of SciPy instead of files.  Files that a model file names (tables, meshes, heights) are read from its directory.
    `inputs` are signals of inputs: {"F": 3}, {"F": "sin(t)"}, {"F": "signal.csv"} or {"F": (t, values)}.
    """

    def __init__(self, source: Path, set: Mapping[str, Any] | None = None, file: str | None = None, matrices: Mapping[str, Any] | None = None,
                 inputs: Mapping[str, Any] | None = None) -> None:
        of_file = not (isinstance(source, str) and "\n" in source)
        if isinstance(source, str) and "\n" in source:
            data, self.file = source.encode(), file or "model"
        else:
            self.file = file or os.fspath(source)
            try:
                with open(source, "rb") as f:
                    data = f.read()
            except OSError as e:
                raise c.FileError(f"cannot read {self.file}: {e.strerror}") from None
        if data.startswith(b"\x89HDF") or self.file.endswith(".csv"):
            raise c.InputError(f"{self.file} is a result, not a model; to look at it: carom.open")
        signals, files = _signals(inputs)
        self._data, self._set, self._matrices = data, c.pairs(set) + signals, {**matrix_texts(matrices), **files}
        if of_file:
            self._matrices = _files(data, os.fspath(source), self._matrices)
        self._check_inputs(inputs)
        given = c.strings(self._set)
        texts = (c.MatrixText * max(1, len(self._matrices)))(
            *(c.MatrixText(name.encode(), text, len(text), place.encode()) for name, (text, place) in self._matrices.items()))
        self._keep(self._make(given, texts, False))

    def _make(self, given, texts, pairs):
        definition = c.ModelDef(self._data, len(self._data), self.file.encode(), given, texts, len(self._matrices), None, pairs)
        err = c.CError()
        pointer = lib.carom_model_create(ctypes.byref(definition), ctypes.byref(err))
        if not pointer:
            raise c.failure(err)
        return pointer

    def _written(self) -> Model:
        """The same with every pair of shapes as formulas, as equilibria and modes need it."""
        if not lib.carom_model_lists(self._handle.pointer):
            return self
        found = copy.copy(self)
        texts = (c.MatrixText * max(1, len(self._matrices)))(
            *(c.MatrixText(name.encode(), text, len(text), place.encode()) for name, (text, place) in self._matrices.items()))
        found._keep(self._make(c.strings(self._set), texts, True))
        return found

    def _check_inputs(self, inputs):
        for name in inputs or {}:
            if not isinstance(name, str) or "=" in name:
                raise c.InputError(f"inputs: {name!r} is no name of an input")

    def _keep(self, pointer):
        self._handle = c.Handle().add(pointer, lib.carom_model_destroy)
        self._lock, self._compiled = threading.Lock(), False

    @classmethod
    def _made(cls, pointer, data, file, set, matrices):
        """Around a model that is there already; data is its text."""
        model = cls.__new__(cls)
        model.file, model._data, model._set, model._matrices = file, data, set, matrices
        model._keep(pointer)
        return model

    @classmethod
    def _made_again(cls, model, more):
        """The same model with more overrides."""
        return _again(model._data, model.file, [*model._set, *more], {name: text for name, (text, _) in model._matrices.items()})

    def __reduce__(self):  # for sweeps in processes
        return _again, (self._data, self.file, self._set, {name: text for name, (text, _) in self._matrices.items()})

    @property
    def text(self) -> str:
        return self._data.decode("utf-8", "replace")

    @property
    def name(self) -> str:
        return c.text(lib.carom_model_name(self._handle.pointer)) or ""

    @property
    def sizes(self):
        return lib.carom_model_count(self._handle.pointer)

    def _names(self, function, n):
        return [c.text(function(self._handle.pointer, i)) for i in range(n)]

    @property
    def coordinates(self) -> list[str]:
        return self._names(lib.carom_model_coordinate, self.sizes.coordinates)

    @property
    def velocities(self) -> list[str]:
        return self._names(lib.carom_model_velocity, self.sizes.velocities)

    @property
    def states(self) -> list[str]:
        """First-order states; they are among the velocities."""
        return [name for i, name in enumerate(self.velocities) if lib.carom_model_state(self._handle.pointer, i)]

    @property
    def constraints(self) -> list[str]:
        """Names of bilateral constraints and contacts, by id."""
        return self._names(lib.carom_model_constraint, self.sizes.constraints + self.sizes.contacts)

    @property
    def contacts(self) -> list[str]:
        return self.constraints[self.sizes.constraints:]

    @property
    def outputs(self) -> list[str]:
        return self._names(lib.carom_model_output, self.sizes.outputs)

    @property
    def parameters(self) -> dict[str, float]:
        x, found = ctypes.c_double(), {}
        for i in range(self.sizes.parameters):
            name = lib.carom_model_parameter(self._handle.pointer, i, ctypes.byref(x))
            found[name.decode()] = x.value
        return found

    @property
    def inputs(self) -> dict[str, float]:
        """Inputs that a simulation can set, with their values at the start."""
        x, found = ctypes.c_double(), {}
        for i in range(self.sizes.inputs):
            name = lib.carom_model_input(self._handle.pointer, i, ctypes.byref(x))
            found[name.decode()] = x.value
        return found

    def set(self, given: Any = None, **more: Any) -> Model:
        """Other values of parameters: model.set(m=3) or model.set({"m": "2*l"}).  Returns the model.

        It is then the model that Model(source, set=...) makes, bit for bit.  Numbers are written into it; it is derived again where a
        parameter changes its structure, where one is given by an expression, and while simulations or results of it are alive: those keep
        the model that they have.
        """
        given = {**(given or {}), **more}
        after = [pair for pair in self._set if pair.split("=", 1)[0] not in given] + c.pairs(given)
        names, n = list(self.parameters), len(given)
        if not self._handle.users and all(isinstance(x, numbers.Real) and name in names for name, x in given.items()):
            index, value, err = (ctypes.c_int * n)(*map(names.index, given)), (ctypes.c_double * n)(*given.values()), c.CError()
            status = lib.carom_model_set(self._handle.pointer, n, index, value, None, ctypes.byref(err))
            if status != c.OK:
                raise c.failure(err, status)
        else:
            other = _again(self._data, self.file, after, {name: text for name, (text, _) in self._matrices.items()})
            self._handle, self._compiled = other._handle, False
        self._set = after
        return self

    @property
    def simulation(self):
        """What the file's `simulation` section says: scheme, options, step, end; None where it is silent."""
        r = lib.carom_model_simulation(self._handle.pointer)
        return types.SimpleNamespace(scheme=c.text(r.scheme), options=c.listed(r.options), step=None if np.isnan(r.step) else r.step,
                                     end=None if np.isnan(r.end) else r.end)

    def compile(self, mode: str = "on", evaluations: float = math.inf) -> bool:
        """Evaluate with machine code made by the C compiler ($CC or cc) from now on; the results are the same bits.

        mode is "on", "auto" (only if it gains time for so many evaluations, or if it was compiled before) or "off" (nothing happens).
        True: compiled code is in use.  Not while a simulation of this model runs in another thread.
        """
        modes = ("off", "auto", "on")
        if mode not in modes:
            raise c.InputError(f"compile: expected auto, on or off, got {mode!r}")
        done, err = ctypes.c_bool(), c.CError()
        status = lib.carom_model_compile(self._handle.pointer, modes.index(mode), evaluations, ctypes.byref(done), ctypes.byref(err))
        if status != c.OK:
            raise c.failure(err, status)
        return done.value

    def _compile_once(self, mode, evaluations):
        """Before its first simulation: other threads may use it later."""
        with self._lock:
            if mode == "on" or not self._compiled:
                self._compiled = True
                self.compile(mode, evaluations)

    def add(self, **functions: Any) -> System:
        """This model with forces and contacts from Python functions; see System."""
        return System(base=self, **functions)

    def _bind(self):
        """What a simulation needs to know of its system; `handle` is the one to which the simulation adds itself."""
        p, n = self._handle.pointer, self.sizes
        rates = lib.carom_model_coordinate if n.coordinates == n.velocities else lib.carom_model_velocity
        return types.SimpleNamespace(
            model=self, system=lib.carom_model_system(p), q0=lib.carom_model_q0(p), v0=lib.carom_model_v0(p), functions=None,
            nq=n.coordinates, nv=n.velocities, ng=n.constraints + n.contacts, constraints=None, coordinates=None,
            name=ctypes.cast(lib.carom_model_constraint, ctypes.c_void_p), rate_name=ctypes.cast(rates, ctypes.c_void_p), name_user=p,
            size=ctypes.cast(lib.carom_model_contact_size, ctypes.c_void_p),
            handle=c.Handle(self._handle))

    def __repr__(self):
        return f"<carom.Model {self.name or self.file!r}: {self.sizes.coordinates} coordinates, {self.sizes.contacts} contacts>"


def _again(data, file, given, matrices):
    model = Model.__new__(Model)
    Model.__init__(model, data.decode("utf-8", "surrogateescape") + ("" if b"\n" in data else "\n"), given, file, matrices)
    return model


class System:
    """A model from Python functions, alone or added to a Model (`base`).

    coordinates   {"x": position or (position, rate)}: names and where they start; none with a base
    mass          mass matrix, or mass(t, q) -> matrix; none with a base
    force         force(t, q, v) -> generalised forces
    potential     potential(t, q) -> potential energy of those forces that have one, for the ledger
    constraints   names of bilateral constraints; none with a base
    contacts      {"wall": {"restitution": 0.5, "friction": 0.3, "tangents": 1}}; friction means one tangent unless said otherwise;
                  also impact_law ("newton", "poisson", "energetic", "fremond") and impact_order ("simultaneous", "sequential")
    gaps          gaps(t, q) -> one number per constraint, then one per contact
    slips         slips(t, q) -> tangential displacements, one per tangent of the contacts; needed with tangents and no directions
    directions    directions(t, q) -> matrix W or (W, w): a row of derivatives by the coordinates per constraint, gap and slip
                  (a contact's slips behind its gap), and derivatives by time; without it, by differences

    Functions get read-only arrays that change from call to call: copy what is to be kept.
    """

    def __init__(self, coordinates=None, *, base=None, mass=None, force=None, potential=None, constraints=(), contacts=None,
                 gaps=None, slips=None, directions=None, name=""):
        if base is not None and not isinstance(base, Model):
            base = Model(base)
        if (base is None) == (coordinates is None):
            raise c.InputError("a system has coordinates of its own, or a base with them: give one of the two")
        if base is None and mass is None:
            raise c.InputError("a system needs a mass matrix, or a function mass(t, q)")
        if base is not None and (mass is not None or constraints):
            raise c.InputError("only forces and contacts can be added to a model, neither mass nor constraints")
        self.base, self.name = base, name or (base.name if base else "")
        self.coordinates = dict(coordinates or {})
        self.constraints, self.contacts = list(constraints), {k: _contact(k, v) for k, v in (contacts or {}).items()}
        self.mass, self.force, self.potential = mass, force, potential
        self.gaps, self.slips, self.directions = gaps, slips, directions
        tangents = sum(x.tangents for x in self.contacts.values())
        if (self.constraints or self.contacts) and gaps is None:
            raise c.InputError("constraints and contacts need the function gaps(t, q)")
        if tangents and slips is None and directions is None:
            raise c.InputError("contacts with tangents need slips(t, q), or directions(t, q)")

    def _bind(self):
        return _Bound(self)

    def __repr__(self):
        own = f"on {self.base!r}" if self.base else f"{len(self.coordinates)} coordinates"
        return f"<carom.System {self.name!r}: {own}, {len(self.contacts)} contacts by functions>"


def _contact(name, given):
    laws, orders = ["newton", "poisson", "energetic", "fremond"], ["simultaneous", "sequential"]
    known = {"restitution", "tangential_restitution", "friction", "tangents", "impact_law", "impact_order"}
    given = dict(given or {})
    if set(given) - known:
        raise c.InputError(f"contact {name!r}: unknown {', '.join(sorted(set(given) - known))}; expected one of {', '.join(sorted(known))}")
    given.setdefault("tangents", 1 if given.get("friction", 0) else 0)
    law, order = given.pop("impact_law", "newton"), given.pop("impact_order", "simultaneous")
    if law not in laws or order not in orders:
        raise c.InputError(f"contact {name!r}: impact_law is one of {', '.join(laws)}, impact_order one of {', '.join(orders)}")
    return c.Contact(impact=laws.index(law), sequential=orders.index(order) == 1, **given)


def view(pointer, n, owner=None):
    """n doubles of the library as an array that keeps their owner."""
    memory = (ctypes.c_double * n).from_address(pointer)
    memory.owner = owner
    return np.frombuffer(memory, dtype=np.float64)


class _Bound:
    """The functions of a System for one simulation: what C calls, and the first exception on the way."""

    def __init__(self, system):
        self.source, self.model = system, system.base
        base = system.base._bind() if system.base else None
        self.functions = self
        self.error = None
        self.calm = c.Calm()
        self.owner = None  # the handle, once the simulation is there: arrays keep it
        self.views, self.outs, self.known = {}, {}, {}
        self.nq = base.nq if base else len(system.coordinates)
        self.nv = base.nv if base else self.nq
        self.constraints = (system.base.constraints if base else list(system.constraints)) + list(system.contacts)
        self.coordinates = None if base else list(system.coordinates)
        self.ng = len(self.constraints)
        self.own = len(system.constraints) + len(system.contacts)
        tangents = [0] * len(system.constraints) + [x.tangents for x in system.contacts.values()]
        self.directions = self.own + sum(tangents)
        self.gap_at = np.cumsum([0] + [1 + n for n in tangents])[:-1].astype(int)
        self.slip_at = np.setdiff1d(np.arange(self.directions), self.gap_at)
        self._start(base)
        self._callbacks(base)
        names = [n.encode() for n in self.constraints]
        rates = [n.encode() for n in (self.coordinates or system.base.velocities)]
        self._names = [ctypes.create_string_buffer(n) for n in names], [ctypes.create_string_buffer(n) for n in rates]
        self._lookup = [c.NAME(lambda user, i, of=of: ctypes.addressof(of[i]) if 0 <= i < len(of) else None) for of in self._names]
        self.name, self.rate_name = (ctypes.cast(f, ctypes.c_void_p) for f in self._lookup)
        self.name_user = self.size = None

    def _start(self, base):
        pairs = [(x if isinstance(x, (tuple, list)) else (x, 0)) for x in self.source.coordinates.values()]
        self.q_start = np.array([float(p[0]) for p in pairs])
        self.v_start = np.array([float(p[1]) for p in pairs])
        self.q0 = base.q0 if base else self.q_start.ctypes.data
        self.v0 = base.v0 if base else self.v_start.ctypes.data

    # -- what C calls -----------------------------------------------------------------------------------------

    def _in(self, pointer, n):
        """Numbers that a function may look at.  While the simulation is being made nobody can keep them: then a copy."""
        if self.owner is None:
            x = view(pointer, n).copy()
            x.flags.writeable = False
            return x
        x = self.views.get((pointer, n))
        if x is None:
            x = self.views[pointer, n] = view(pointer, n, self.owner)
            x.flags.writeable = False
        return x

    def _out(self, pointer, n):
        """Numbers to be written; no function sees them."""
        x = self.outs.get((pointer, n))
        if x is None:
            x = self.outs[pointer, n] = view(pointer, n)
        return x

    def _guard(self, kind, function):
        """A C function around a Python one.  An exception is kept and ends the run; after it nothing is called any more."""
        calm = self.calm

        def call(user, *arguments):
            if self.error is not None:
                return c.USER
            try:
                if calm.interrupted:
                    raise KeyboardInterrupt
                function(*arguments)
            except BaseException as e:
                self.error = e
                return c.USER
            return c.OK
        return kind(call)

    def _guard_force(self, function, nq, nv):
        """The same for forces, which are asked for most often: what is known of the three places is looked up at once, and few numbers are added one by one."""
        calm, known, user_error, fine = self.calm, self.known, c.USER, c.OK

        def look(q, v, f):
            places = self._in(q, nq), self._in(v, nv), (ctypes.c_double * nv).from_address(f), self._out(f, nv)
            if self.owner is not None:
                known[q, v, f] = places
            return places

        def call(user, t, q, v, f):
            if self.error is not None:
                return user_error
            try:
                if calm.interrupted:
                    raise KeyboardInterrupt
                places = known.get((q, v, f))
                if places is None:
                    places = look(q, v, f)
                x = function(t, places[0], places[1])
                if nv <= 8 and (type(x) is list or type(x) is tuple) and len(x) == nv:
                    out, i = places[2], 0
                    for y in x:
                        out[i] += y
                        i += 1
                else:
                    out = places[3]
                    out += _fit(x, nv, "force(t, q, v)")
            except BaseException as e:
                self.error = e
                return user_error
            return fine
        return c.FORCE(call)

    def _callbacks(self, base):
        s, nq, nv, n = self.source, self.nq, self.nv, self.directions
        d = c.FunctionsDef(base=base.system if base else None, n=0 if base else nq, ne=len(s.constraints), nc=len(s.contacts))
        d.contacts = (c.Contact * max(1, len(s.contacts)))(*s.contacts.values())

        def mass(t, q, M):
            self._out(M, nv * nv)[:] = _fit(s.mass(t, self._in(q, nq)), nv * nv, "mass(t, q)")

        def gaps(t, q, g):
            q, g = self._in(q, nq), self._out(g, n)
            g[self.gap_at] = _fit(s.gaps(t, q), self.own, "gaps(t, q)")
            if s.slips is not None:
                g[self.slip_at] = _fit(s.slips(t, q), n - self.own, "slips(t, q)")

        def directions(t, q, W, w):
            x = s.directions(t, self._in(q, nq))
            if isinstance(x, tuple):
                self._out(w, n)[:] = _fit(x[1], n, "w of directions(t, q)")
                x = x[0]
            self._out(W, n * nv)[:] = _fit(x, n * nv, "directions(t, q)")

        def potential(t, q, V):
            V[0] = _fit(s.potential(t, self._in(q, nq)), 1, "potential(t, q)")[0]

        if s.mass is not None and not callable(s.mass):
            constant = _fit(s.mass, nv * nv, "mass").copy()
            d.flags |= 1  # CAROM_CONSTANT_MASS

            def mass(t, q, M):
                self._out(M, nv * nv)[:] = constant
        given = {"mass": s.mass, "force": s.force, "gaps": s.gaps, "directions": s.directions, "potential": s.potential}
        kinds = {"mass": (c.MASS, mass), "gaps": (c.GAPS, gaps), "directions": (c.DIRECTIONS, directions),
                 "potential": (c.POTENTIAL, potential)}
        self._c_functions = {k: self._guard_force(f, nq, nv) if k == "force" else self._guard(*kinds[k]) for k, f in given.items() if f is not None}
        for k, f in self._c_functions.items():
            setattr(d, k, f)
        err = c.CError()
        pointer = lib.carom_functions_create(ctypes.byref(d), ctypes.byref(err))
        if not pointer:
            raise c.failure(err)
        self.handle = base.handle if base else c.Handle()
        self.handle.add(pointer, lib.carom_functions_destroy)
        self.system = lib.carom_functions_system(pointer)

    def raise_error(self):
        """Raise what a function raised."""
        if self.error is not None:
            raise self.error

    def release(self):
        """Let go of the arrays that were handed out, and with them of the simulation."""
        self.views.clear()
        self.outs.clear()
        self.known.clear()
        self.owner = None


def _fit(x, n, what):
    x = np.asarray(x, dtype=np.float64)
    if x.size != n:
        raise ValueError(f"{what} gave {x.size} numbers (shape {x.shape}), {n} are needed")
    return x.reshape(n)
