"""The C library: where it is, its structs and functions, its failures as exceptions.

Structs are mirrored field by field; tests/test_layout.py holds them to the C compiler's idea of include/carom, and a library whose
sizes differ is refused.
"""
import ctypes
import ctypes.util
import os
import pathlib
import signal
import threading
import weakref
from ctypes import CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_long, c_longlong, c_size_t, c_uint, c_void_p
from typing import TYPE_CHECKING, Any, Union

VERSION = "0.2.0"  # of the headers that the mirrors below were written for

OK, RETRY, BAD_INPUT, NO_MEMORY, SINGULAR, NOT_CONVERGED, USER, IO, STOPPED, UNSUPPORTED, END = range(11)

Path = Union[str, "os.PathLike[str]"]
Time = Union[float, str]  # seconds, or with a unit: "2 ms"
if TYPE_CHECKING:
    from ._mechanism import Mechanism
    from ._model import Model, System
    Source = Union[str, "os.PathLike[str]", Model, Mechanism, System]  # a file name, a text, a Model, a Mechanism or a System
else:
    Source = Any


# -- failures ------------------------------------------------------------------------------------------------------

class Error(Exception):
    """What carom could not do.  `result` holds what a run had computed until then, or None."""
    result = None


class InputError(Error, ValueError):
    """A model, an option or an argument is wrong."""


class SimulationError(Error):
    """The simulation cannot go on."""


class FileError(Error, OSError):
    """A file could not be read or written."""


_classes = {BAD_INPUT: InputError, UNSUPPORTED: InputError, IO: FileError, NO_MEMORY: Error}


def failure(err, status=None):
    """The exception for a carom_error."""
    code = err.code if status is None else status
    return _classes.get(code, SimulationError)(err.text.decode("utf-8", "replace"))


# -- structs -------------------------------------------------------------------------------------------------------

class CError(Structure):
    _fields_ = [("code", c_int), ("text", c_char * 960)]


class Contact(Structure):
    _fields_ = [("restitution", c_double), ("tangential_restitution", c_double), ("friction", c_double), ("tangents", c_int),
                ("impact", c_int), ("sequential", c_bool), ("friction_varies", c_bool), ("friction_reacts", c_bool), ("friction_only", c_bool), ("disc", c_int * 2),
                ("ellipse", c_double * 2), ("varies", c_bool)]


MASS = CFUNCTYPE(c_int, c_void_p, c_double, c_void_p, c_void_p)
FORCE = CFUNCTYPE(c_int, c_void_p, c_double, c_void_p, c_void_p, c_void_p)
GAPS = CFUNCTYPE(c_int, c_void_p, c_double, c_void_p, c_void_p)
DIRECTIONS = CFUNCTYPE(c_int, c_void_p, c_double, c_void_p, c_void_p, c_void_p)
POTENTIAL = CFUNCTYPE(c_int, c_void_p, c_double, c_void_p, POINTER(c_double))
NAME = CFUNCTYPE(c_void_p, c_void_p, c_int)
FINDING = CFUNCTYPE(None, c_void_p, c_int, c_char_p)


class FunctionsDef(Structure):
    _fields_ = [("base", c_void_p), ("n", c_int), ("ne", c_int), ("nc", c_int), ("contacts", POINTER(Contact)), ("flags", c_uint),
                ("user", c_void_p), ("mass", MASS), ("force", FORCE), ("gaps", GAPS), ("directions", DIRECTIONS),
                ("potential", POTENTIAL)]


class MatrixText(Structure):
    _fields_ = [("name", c_char_p), ("text", c_char_p), ("length", c_size_t), ("file", c_char_p)]


class Datum(Structure):
    pass


Datum._fields_ = [("kind", c_int), ("count", c_int), ("number", c_double), ("text", c_char_p), ("length", c_size_t), ("item", POINTER(Datum)),
                  ("key", POINTER(Datum)), ("line", c_int), ("column", c_int), ("of", c_char_p), ("indices", c_void_p), ("flow", c_bool),
                  ("bare", c_bool), ("aligned", c_bool)]


class ModelDef(Structure):
    _fields_ = [("text", c_char_p), ("length", c_size_t), ("file", c_char_p), ("set", POINTER(c_char_p)),
                ("matrices", POINTER(MatrixText)), ("nmatrices", c_int), ("observe", POINTER(c_char_p)), ("pairs", c_bool), ("reserved", c_void_p * 6)]


class ModelSizes(Structure):
    _fields_ = [(name, c_int) for name in ("parameters", "inputs", "coordinates", "velocities", "lets", "constraints", "contacts", "outputs",
                                           "checks", "members")] + [("exact", c_bool)]


class ModelRun(Structure):
    _fields_ = [("scheme", c_char_p), ("options", POINTER(c_char_p)), ("step", c_double), ("end", c_double),
                ("scheme_place", c_char_p), ("option_places", POINTER(c_char_p))]


class SimDef(Structure):
    _fields_ = [("system", c_void_p), ("scheme", c_char_p), ("schemes", c_void_p), ("options", POINTER(c_char_p)), ("t0", c_double),
                ("h", c_double), ("t_end", c_double), ("q0", c_void_p), ("v0", c_void_p), ("input", c_void_p), ("name", c_void_p), ("name_user", c_void_p),
                ("rate_name", c_void_p), ("size", c_void_p), ("input_t", c_double), ("input_whole", c_bool), ("on_sample", c_void_p), ("sample_user", c_void_p), ("choice", c_char_p)]


class Now(Structure):
    _fields_ = [("t", c_double), ("step", c_long), ("q", c_void_p), ("v", c_void_p), ("gap", c_void_p), ("dir", c_void_p),
                ("reacted", c_bool), ("impulse", c_void_p), ("force", c_void_p), ("events", c_void_p), ("nevents", c_int), ("nu", c_void_p),
                ("lasting", c_void_p)]


class LedgerLine(Structure):
    _fields_ = [("name", c_char_p), ("is_text", c_bool), ("text", c_char_p), ("value", c_double), ("whole", c_bool)]


class RecordDef(Structure):
    _fields_ = [("model", c_void_p), ("sim", c_void_p), ("file", c_char_p), ("stream", c_void_p), ("memory", c_bool), ("replace", c_bool),
                ("step", c_double), ("end", c_double), ("every", c_long), ("dt_out", c_double), ("event_rows", c_bool), ("text", c_char_p),
                ("length", c_size_t), ("model_file", c_char_p), ("set", POINTER(c_char_p)), ("options", POINTER(c_char_p)),
                ("coordinates", POINTER(c_char_p)), ("constraints", POINTER(c_char_p)), ("extra", c_void_p), ("extra_value", c_void_p),
                ("columns", POINTER(c_char_p)), ("compress", c_bool), ("units", c_bool)]


class ResultEvent(Structure):
    _fields_ = [("t", c_double), ("before", c_double), ("after", c_double), ("impulse", c_double), ("contact", c_char * 128),
                ("kind", c_char * 16)]


class ResultContact(Structure):
    _fields_ = [("t", c_double), ("point", c_double * 3), ("normal", c_double * 3), ("gap", c_double), ("force", c_double * 3), ("contact", c_char * 128)]


class Option(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("fallback", c_double), ("low", c_double), ("high", c_double),
                ("choices", c_char_p), ("about", c_char_p), ("open_high", c_bool), ("derived", c_char_p)]


class SchemeLine(Structure):
    _fields_ = [("name", c_char_p), ("about", c_char_p), ("order", c_int), ("own_steps", c_bool), ("options", POINTER(Option))]


class CompareDef(Structure):
    _fields_ = [("model", c_void_p), ("schemes", POINTER(c_char_p)), ("steps", POINTER(c_double)), ("nsteps", c_int),
                ("tolerances", POINTER(c_double)), ("ntolerances", c_int), ("first", c_double), ("end", c_double),
                ("options", POINTER(c_char_p)), ("reference", c_char_p), ("norm", c_int), ("dense", c_bool), ("of", POINTER(c_char_p)),
                ("threads", c_int), ("memory", c_size_t), ("p", c_double), ("relative", c_bool)]


class EstimateDef(Structure):
    _fields_ = [("model", c_void_p), ("sim", POINTER(SimDef)), ("dt_out", c_double), ("team", c_void_p), ("memory", c_size_t)]


class CompareRow(Structure):
    _fields_ = [("scheme", c_char_p), ("step", c_double), ("tolerance", c_double), ("error", c_double), ("order", c_double),
                ("steps", c_long), ("rejected", c_long), ("seconds", c_double), ("done", c_bool), ("failure", c_char_p), ("warning", c_void_p)]


TICK = CFUNCTYPE(c_bool, c_void_p, c_double)


class CompareWatch(Structure):
    _fields_ = [("user", c_void_p), ("row", c_void_p), ("tick", TICK)]


class RunGiven(Structure):
    _fields_ = [("scheme", c_char_p), ("step", c_double), ("end", c_double), ("options", POINTER(c_char_p)), ("adaptive", c_bool),
                ("rtol", c_double), ("atol", c_double), ("interval", c_double), ("reserved", c_void_p * 6)]


class Run(Structure):
    _fields_ = [("scheme", c_char_p), ("table", c_void_p), ("step", c_double), ("end", c_double), ("options", POINTER(c_char_p)),
                ("own", c_void_p), ("from_file", c_bool), ("evaluations", c_double), ("chosen", c_char * 240)]


class SweepDef(Structure):
    _fields_ = [("model", ModelDef), ("run", RunGiven), ("start", c_void_p), ("signals", c_void_p), ("vary", POINTER(c_char_p)), ("zip", c_bool), ("observe", POINTER(c_char_p)),
                ("section", c_char_p), ("count", c_long), ("transient", c_double), ("follow", c_int), ("part", c_int), ("parts", c_int),
                ("jobs", c_int), ("lanes", c_int), ("gpu", c_bool), ("read_file", c_void_p), ("read_user", c_void_p), ("reserved", c_void_p * 6)]


class SweepRow(Structure):
    _fields_ = [("run", c_long), ("direction", c_int), ("vary", POINTER(c_double)), ("status", c_int), ("message", c_char_p),
                ("observed", POINTER(c_double)), ("points", c_long), ("section", POINTER(c_double)), ("end", POINTER(c_double))]


SWEEP_ROW = CFUNCTYPE(c_bool, c_void_p, POINTER(SweepRow))
SWEEP_TICK = CFUNCTYPE(c_bool, c_void_p, c_long, c_long)


class SweepWatch(Structure):
    _fields_ = [("user", c_void_p), ("row", SWEEP_ROW), ("tick", SWEEP_TICK), ("often", c_bool), ("fetch", c_void_p)]


class RestForce(Structure):
    _fields_ = [("name", c_char * 80), ("id", c_int), ("value", c_double), ("low", c_double), ("high", c_double)]


class Rest(Structure):
    _fields_ = [("nq", c_int), ("nv", c_int), ("nforce", c_int), ("nc", c_int), ("q", POINTER(c_double)), ("force", POINTER(RestForce)),
                ("contact", POINTER(c_int)), ("residual", c_double), ("iterations", c_int), ("free", c_int), ("unbalanced", c_int),
                ("force_left", c_double), ("nsignals", c_int), ("signals", POINTER(c_double))]


class Mode(Structure):
    _fields_ = [("re", c_double), ("im", c_double), ("frequency", c_double), ("damping", c_double), ("shape", POINTER(c_double)), ("rigid", c_bool)]


class Modes(Structure):
    _fields_ = [("nv", c_int), ("count", c_int), ("mode", POINTER(Mode)), ("q", POINTER(c_double)), ("v", POINTER(c_double)), ("joints", c_int),
                ("sticking", c_int), ("sliding", c_int), ("unbalanced", c_double), ("method", c_char_p), ("shapes", POINTER(c_double)),
                ("sample", c_double), ("forgotten", c_int)]


class ModesDef(Structure):
    _fields_ = [("q", c_void_p), ("v", c_void_p), ("open", c_bool), ("count", c_int), ("closed", c_void_p)]


class FitDef(Structure):
    _fields_ = [("model", ModelDef), ("run", RunGiven), ("start", c_void_p), ("signals", c_void_p), ("free", POINTER(c_char_p)), ("match", POINTER(c_char_p)),
                ("bounds", POINTER(c_char_p)), ("sigma", POINTER(c_char_p)), ("data", POINTER(c_char_p)), ("settings", POINTER(c_char_p)), ("max_evaluations", c_int), ("stop", c_void_p),
                ("user", c_void_p)]


class FitPoint(Structure):
    _fields_ = [("t", c_double), ("data", c_double), ("model", c_double), ("match", c_int), ("file", c_int)]


class Fit(Structure):
    _fields_ = [("nfree", c_int), ("npoints", c_int), ("nmatch", c_int), ("name", POINTER(c_char_p)), ("value", POINTER(c_double)),
                ("start", POINTER(c_double)), ("error", POINTER(c_double)), ("low", POINTER(c_double)), ("high", POINTER(c_double)), ("covariance", POINTER(c_double)), ("confidence", c_double),
                ("residual", c_double), ("residual_start", c_double), ("point", POINTER(FitPoint)), ("match", POINTER(c_char_p)),
                ("evaluations", c_int), ("jacobians", c_int), ("differences", c_int), ("not_exact", c_char * 400), ("scheme", c_char_p)]


class GradientDef(Structure):
    _fields_ = [("model", ModelDef), ("run", RunGiven), ("start", c_void_p), ("of", c_char_p), ("by", POINTER(c_char_p)), ("rows", c_bool), ("one_sided", c_bool), ("file", c_char_p), ("stop", c_void_p),
                ("user", c_void_p)]


class Gradient(Structure):
    _fields_ = [("n", c_int), ("name", POINTER(c_char_p)), ("value", c_double), ("gradient", POINTER(c_double)), ("t", c_double), ("distance", POINTER(c_double)), ("adjoint", c_bool), ("note", c_char * 400), ("rows", c_long),
                ("row", POINTER(c_double)), ("scheme", c_char_p)]


class OrbitDef(Structure):
    _fields_ = [("model", ModelDef), ("run", RunGiven), ("start", c_void_p), ("signals", c_void_p), ("period", c_char_p), ("exchange", c_void_p), ("segments", c_int), ("transient", c_double), ("guess", c_double), ("conservative", c_bool), ("energy", c_double),
                ("stop", c_void_p), ("user", c_void_p)]


class OrbitEvent(Structure):
    _fields_ = [("t", c_double), ("contact", c_int), ("kind", c_char_p), ("impacts", c_int), ("until", c_double)]


class Orbit(Structure):
    _fields_ = [("nq", c_int), ("nv", c_int), ("nmultipliers", c_int), ("nevents", c_int), ("nc", c_int), ("period", c_double), ("residual", c_double),
                ("q", POINTER(c_double)), ("v", POINTER(c_double)), ("nsignals", c_int), ("signals", POINTER(c_double)), ("advance", POINTER(c_double)), ("re", POINTER(c_double)), ("im", POINTER(c_double)),
                ("trivial", c_int), ("rank_loss", c_int), ("largest", c_double), ("isolated", c_bool), ("event", POINTER(OrbitEvent)), ("iterations", c_int),
                ("segments", c_int), ("node", POINTER(c_double)), ("scheme", c_char_p), ("others", c_int)]


class LyapunovDef(Structure):
    _fields_ = [("model", ModelDef), ("run", RunGiven), ("start", c_void_p), ("transient", c_double), ("stop", c_void_p), ("user", c_void_p)]


class Lyapunov(Structure):
    _fields_ = [("n", c_int), ("rows", c_int), ("exponent", POINTER(c_double)), ("error", POINTER(c_double)), ("history", POINTER(c_double)),
                ("rests", c_bool), ("t", c_double), ("sum", c_double), ("scheme", c_char_p)]


class TableColumn(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("real", POINTER(c_double)), ("integer", POINTER(c_longlong)), ("text", POINTER(c_char_p))]


class CTable(Structure):
    _fields_ = [("name", c_char_p), ("rows", c_long), ("columns", c_int), ("column", POINTER(TableColumn))]


class FollowDef(Structure):
    _fields_ = [("model", ModelDef), ("run", RunGiven), ("start", c_void_p), ("signals", c_void_p), ("period", c_char_p), ("guess", c_double), ("exchange", c_void_p), ("by", c_char_p),
                ("from", c_double), ("to", c_double), ("step", c_double), ("max_points", c_int), ("switches", c_int), ("conservative", c_bool), ("response", c_char_p), ("on_point", c_void_p), ("user", c_void_p),
                ("stop", c_void_p)]


class Branch(Structure):
    _fields_ = [("branch", CTable), ("queue", CTable), ("branches", c_int), ("value", c_double), ("scheme", c_char_p), ("unlocated", c_int), ("note", CError)]


class LocusDef(Structure):
    _fields_ = [("model", ModelDef), ("run", RunGiven), ("kind", c_int), ("start", c_void_p), ("period", c_char_p), ("guess", c_double), ("exchange", c_void_p), ("response", c_char_p),
                ("by", c_char_p * 2), ("from", c_double * 2), ("to", c_double * 2), ("step", c_double), ("max_points", c_int), ("stop", c_void_p), ("user", c_void_p)]


class Locus(Structure):
    _fields_ = [("curve", CTable), ("scheme", c_char_p), ("note", CError)]


class OptimiseDef(Structure):
    _fields_ = [("model", ModelDef), ("run", RunGiven), ("start", c_void_p), ("signals", c_void_p), ("of", c_char_p), ("maximise", c_bool), ("by", POINTER(c_char_p)), ("subject", POINTER(c_char_p)),
                ("method", c_char_p), ("restarts", c_int), ("evaluations", c_int), ("tolerance", c_double), ("on_run", c_void_p), ("user", c_void_p), ("stop", c_void_p), ("stop_user", c_void_p)]


class Optimum(Structure):
    _fields_ = [("n", c_int), ("nsubject", c_int), ("name", POINTER(c_char_p)), ("value", POINTER(c_double)), ("low", POINTER(c_double)), ("high", POINTER(c_double)), ("begin", POINTER(c_double)),
                ("objective", c_double), ("first", c_double), ("subject", POINTER(c_double)), ("violation", c_double), ("gradient", POINTER(c_double)), ("multiplier", POINTER(c_double)),
                ("bound", POINTER(c_int)), ("slope", c_double), ("distance", c_double), ("kink", c_bool), ("runs", c_int), ("derivatives", c_int), ("search", c_int), ("searches", c_int), ("exact", c_bool),
                ("not_exact", c_char * 400), ("method", c_char_p), ("scheme", c_char_p), ("history", CTable), ("text", c_char_p)]


class BasinsDef(Structure):
    _fields_ = [("sweep", SweepDef), ("tick", c_void_p), ("user", c_void_p)]


class Basins(Structure):
    _fields_ = [("runs", CTable), ("attractors", CTable)]


# The C name of every mirror above, for the test of layouts.
MIRRORS = {"carom_error": CError, "carom_contact": Contact, "carom_functions_def": FunctionsDef, "carom_model_def": ModelDef, "carom_matrix_text": MatrixText, "carom_datum": Datum,
           "carom_model_sizes": ModelSizes, "carom_model_run": ModelRun, "carom_sim_def": SimDef, "carom_now": Now,
           "carom_ledger_line": LedgerLine,
           "carom_record_def": RecordDef, "carom_result_event": ResultEvent, "carom_result_contact": ResultContact, "carom_option": Option, "carom_scheme_line": SchemeLine,
           "carom_estimate_def": EstimateDef, "carom_compare_def": CompareDef, "carom_compare_row": CompareRow, "carom_compare_watch": CompareWatch,
           "carom_run_given": RunGiven, "carom_run": Run, "carom_sweep_def": SweepDef, "carom_sweep_row": SweepRow, "carom_sweep_watch": SweepWatch,
           "carom_equilibrium": Rest, "carom_equilibrium_force": RestForce, "carom_mode": Mode, "carom_modes": Modes, "carom_modes_def": ModesDef,
           "carom_orbit_def": OrbitDef, "carom_orbit_event": OrbitEvent, "carom_orbit": Orbit, "carom_lyapunov_def": LyapunovDef, "carom_lyapunov": Lyapunov,
           "carom_column": TableColumn, "carom_table": CTable, "carom_follow_def": FollowDef, "carom_branch": Branch, "carom_locus_def": LocusDef, "carom_locus": Locus,
           "carom_fit": Fit, "carom_fit_def": FitDef, "carom_fit_point": FitPoint,
           "carom_gradient": Gradient, "carom_gradient_def": GradientDef, "carom_optimise_def": OptimiseDef, "carom_optimum": Optimum, "carom_basins_def": BasinsDef, "carom_basins": Basins}


# -- functions -----------------------------------------------------------------------------------------------------

_P, _E = c_void_p, POINTER(CError)
FUNCTIONS = {  # name: (result, arguments)
    "carom_version": (c_char_p, []),
    "carom_model_create": (_P, [POINTER(ModelDef), _E]),
    "carom_model_files": (c_int, [c_char_p, c_size_t, c_char_p, POINTER(POINTER(MatrixText)), POINTER(c_int), _E]),
    "carom_model_files_free": (None, [POINTER(MatrixText), c_int]),
    "carom_model_examine": (c_int, [_P, FINDING, _P, _E]),
    "carom_model_of": (_P, [_P, _P, _E]),
    "carom_mech_create": (_P, [c_char_p]),
    "carom_mech_destroy": (None, [_P]),
    "carom_mech_add": (c_int, [_P, c_char_p, c_char_p, POINTER(Datum), _E]),
    "carom_mech_set": (c_int, [_P, c_char_p, _E]),
    "carom_mech_add_matrix": (c_int, [_P, POINTER(MatrixText), _E]),
    "carom_mech_text": (c_void_p, [_P]),
    "carom_mech_text_free": (None, [c_void_p]),
    "carom_model_destroy": (None, [_P]),
    "carom_model_lists": (c_bool, [_P]),
    "carom_model_system": (_P, [_P]),
    "carom_model_name": (c_char_p, [_P]),
    "carom_model_q0": (_P, [_P]),
    "carom_model_v0": (_P, [_P]),
    "carom_model_count": (ModelSizes, [_P]),
    "carom_model_coordinate": (c_char_p, [_P, c_int]),
    "carom_model_velocity": (c_char_p, [_P, c_int]),
    "carom_model_input": (c_char_p, [_P, c_int, POINTER(c_double)]),
    "carom_model_presses": (c_bool, [_P, c_int]),
    "carom_model_state": (c_bool, [_P, c_int]),
    "carom_model_hidden": (c_bool, [_P, c_int]),
    "carom_model_at_rest": (None, [_P, _P, _P]),
    "carom_model_parameter": (c_char_p, [_P, c_int, POINTER(c_double)]),
    "carom_model_set": (c_int, [_P, c_int, POINTER(c_int), POINTER(c_double), POINTER(c_bool), _E]),
    "carom_model_quantity": (c_bool, [_P, c_char_p, c_char_p, c_size_t, POINTER(c_double), _E]),
    "carom_model_constraint": (c_char_p, [_P, c_longlong]),
    "carom_model_contact_size": (c_double, [_P, c_longlong]),
    "carom_model_output": (c_char_p, [_P, c_int]),
    "carom_model_simulation": (ModelRun, [_P]),
    "carom_model_compile": (c_int, [_P, c_int, c_double, POINTER(c_bool), _E]),
    "carom_functions_create": (_P, [POINTER(FunctionsDef), _E]),
    "carom_functions_destroy": (None, [_P]),
    "carom_functions_system": (_P, [_P]),
    "carom_schemes": (_P, []),
    "carom_scheme_line_at": (SchemeLine, [c_int]),
    "carom_layout_size": (c_size_t, [c_char_p]),
    "carom_option_write": (None, [POINTER(Option), c_double, c_char_p, c_size_t]),
    "carom_run_nothing": (RunGiven, []),
    "carom_run_resolve": (c_int, [POINTER(Run), _P, POINTER(RunGiven), _E]),
    "carom_run_free": (None, [POINTER(Run)]),
    "carom_sim_default": (SimDef, []),
    "carom_sim_create": (_P, [POINTER(SimDef), _E]),
    "carom_sim_destroy": (None, [_P]),
    "carom_sim_now": (Now, [_P]),
    "carom_sim_done": (c_bool, [_P]),
    "carom_sim_input": (c_int, [_P, c_int, c_double, POINTER(CError)]),
    "carom_sim_inputs": (c_void_p, [_P]),
    "carom_record_default": (RecordDef, []),
    "carom_record_create": (_P, [POINTER(RecordDef), _E]),
    "carom_record_destroy": (None, [_P]),
    "carom_record_advance": (c_int, [_P, c_long, c_long, _E]),
    "carom_record_flush": (c_int, [_P, _E]),
    "carom_record_finish": (c_int, [_P, c_char_p, c_char_p, _E]),
    "carom_record_check": (c_bool, [_P, c_int, POINTER(c_char_p), POINTER(c_double), POINTER(c_double), _E]),
    "carom_ledger_of_record": (_P, [_P, _E]),
    "carom_record_columns": (c_int, [_P]),
    "carom_record_column": (c_char_p, [_P, c_int]),
    "carom_record_rows": (c_long, [_P]),
    "carom_record_row": (_P, [_P, c_long]),
    "carom_record_result": (_P, [_P, _E]),
    "carom_ledger_entry": (POINTER(LedgerLine), [_P, c_int]),
    "carom_ledger_free": (None, [_P]),
    "carom_result_open": (_P, [c_char_p, _E]),
    "carom_result_close": (None, [_P]),
    "carom_result_save": (c_int, [_P, c_char_p, _E]),
    "carom_result_columns": (c_int, [_P]),
    "carom_result_column": (c_char_p, [_P, c_int]),
    "carom_result_rows": (c_long, [_P]),
    "carom_result_read": (c_int, [_P, c_int, c_long, c_long, _P, _E]),
    "carom_result_read_rows": (c_int, [_P, c_long, c_long, _P, _E]),
    "carom_result_values": (_P, [_P]),
    "carom_result_event_count": (c_long, [_P]),
    "carom_result_events": (c_int, [_P, c_long, c_long, _P, _E]),
    "carom_result_contact_count": (c_long, [_P]),
    "carom_result_contacts": (c_int, [_P, c_long, c_long, _P, _E]),
    "carom_result_text": (c_char_p, [_P, c_char_p]),
    "carom_result_number": (c_bool, [_P, c_char_p, POINTER(c_double)]),
    "carom_result_attribute": (c_char_p, [_P, c_int]),
    "carom_result_model": (c_char_p, [_P, POINTER(c_size_t)]),
    "carom_ledger_of_result": (_P, [_P, _E]),
    "carom_estimate_create": (_P, [POINTER(EstimateDef), _E]),
    "carom_estimate_destroy": (None, [_P]),
    "carom_estimate_run": (c_int, [_P, TICK, _P, _E]),
    "carom_estimate_text": (_P, [_P]),
    "carom_record_estimate": (None, [_P, _P]),
    "carom_compare_norm": (c_int, [POINTER(CompareDef), c_char_p, _E]),
    "carom_compare_default": (CompareDef, []),
    "carom_compare_create": (_P, [POINTER(CompareDef), _E]),
    "carom_compare_destroy": (None, [_P]),
    "carom_compare_run": (c_int, [_P, POINTER(CompareWatch), _E]),
    "carom_compare_schemes": (c_int, [_P]),
    "carom_compare_runs": (c_int, [_P, c_int]),
    "carom_compare_row_at": (CompareRow, [_P, c_int, c_int]),
    "carom_compare_order": (c_double, [_P, c_int]),
    "carom_compare_reference": (c_char_p, [_P, POINTER(c_double)]),
    "carom_compare_name": (c_char_p, [_P, c_int]),
    "carom_sweep_default": (SweepDef, []),
    "carom_sweep_create": (_P, [POINTER(SweepDef), _E]),
    "carom_sweep_destroy": (None, [_P]),
    "carom_sweep_runs": (c_long, [_P]),
    "carom_sweep_run": (c_int, [_P, POINTER(SweepWatch), _E]),
    "carom_state_read": (c_int, [_P, c_char_p, _P, _P, _E]),
    "carom_state_signals": (c_int, [_P, c_char_p, _P, _E]),
    "carom_model_signal": (c_char_p, [_P, c_int]),
    "carom_model_signals": (_P, [_P]),
    "carom_result_unit": (c_bool, [_P, c_char_p, c_char_p, c_size_t]),
    "carom_equilibrium_find": (c_int, [POINTER(Rest), _P, _P, _E]),
    "carom_equilibrium_free": (None, [POINTER(Rest)]),
    "carom_modes_find": (c_int, [POINTER(Modes), _P, POINTER(ModesDef), _E]),
    "carom_modes_free": (None, [POINTER(Modes)]),
    "carom_orbit_find": (c_int, [POINTER(Orbit), POINTER(OrbitDef), _E]),
    "carom_orbit_free": (None, [POINTER(Orbit)]),
    "carom_orbit_mode": (c_int, [_P, c_int, c_double, _P, POINTER(c_double), _E]),
    "carom_state_keep": (c_int, [_P, c_char_p, _P, _P, _P, _E]),
    "carom_lyapunov_find": (c_int, [POINTER(Lyapunov), POINTER(LyapunovDef), _E]),
    "carom_lyapunov_free": (None, [POINTER(Lyapunov)]),
    "carom_model_timeless": (c_int, [_P, c_char_p, POINTER(c_bool), _E]),
    "carom_follow_run": (c_int, [POINTER(Branch), POINTER(FollowDef), _E]),
    "carom_branch_free": (None, [POINTER(Branch)]),
    "carom_locus_run": (c_int, [POINTER(Locus), POINTER(LocusDef), _E]),
    "carom_locus_free": (None, [POINTER(Locus)]),
    "carom_equilibrium_range": (c_int, [_P, POINTER(Rest), c_int, POINTER(c_double), _E]),
    "carom_fit_find": (c_int, [POINTER(Fit), POINTER(FitDef), _E]),
    "carom_fit_free": (None, [POINTER(Fit)]),
    "carom_optimise": (c_int, [POINTER(Optimum), POINTER(OptimiseDef), _E]),
    "carom_optimum_free": (None, [POINTER(Optimum)]),
    "carom_basins_find": (c_int, [POINTER(Basins), POINTER(BasinsDef), _E]),
    "carom_basins_free": (None, [POINTER(Basins)]),
    "carom_gradient_find": (c_int, [POINTER(Gradient), POINTER(GradientDef), _E]),
    "carom_gradient_free": (None, [POINTER(Gradient)]),
}


def _candidates():
    """Where libcarom.so may be, in the order of preference."""
    given = os.environ.get("CAROM_LIBRARY")
    if given:
        return [given]
    here = pathlib.Path(__file__).resolve().parent
    places = [here / "libcarom.so"]
    places += [up / "lib" / "libcarom.so" for up in here.parents]  # PREFIX/lib/python3/... of `make install`
    places.append(here.parents[1] / "build" / "libcarom.so")       # a source tree
    found = [str(p) for p in places if p.exists()]
    return found + [name for name in (ctypes.util.find_library("carom"), "libcarom.so.0", "libcarom.so") if name]


def _load():
    tried = []
    for name in _candidates():
        try:
            return ctypes.CDLL(name), name
        except OSError as e:
            tried.append(str(e))
    raise ImportError("carom's C library was not found: build it (make) and install it (make install), or set CAROM_LIBRARY to "
                      "libcarom.so" + "".join("\n  " + t for t in tried))


def _bind(library, name, result, arguments):
    """The function as the headers declare it.  What it returns is copied from a view; where it takes definitions or fills structs, their sizes go first (carom.h)."""
    if isinstance(result, type) and issubclass(result, Structure):
        view = getattr(library, name + "_view")
        view.restype, view.argtypes = POINTER(result), arguments
        return lambda *given: result.from_buffer_copy(view(*given).contents)
    structs = [a._type_ for a in arguments if hasattr(a, "_type_") and isinstance(a._type_, type) and issubclass(a._type_, Structure) and a is not _E]
    if not structs or not hasattr(library, name + "_sized"):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
        return function
    function = getattr(library, name + "_sized")
    function.restype, function.argtypes = result, [c_size_t] * len(structs) + arguments
    sizes = [ctypes.sizeof(s) for s in structs]
    return lambda *given: function(*sizes, *given)


lib, _path = _load()
try:
    for _name, (_result, _arguments) in FUNCTIONS.items():
        setattr(lib, _name, _bind(lib, _name, _result, _arguments))
except AttributeError as e:
    raise ImportError(f"{_path} is another version of carom than this package, {VERSION}: {e}") from None
if lib.carom_version().decode() != VERSION:
    raise ImportError(f"{_path} is carom {lib.carom_version().decode()}, this package is {VERSION}; set CAROM_LIBRARY to the right one")

for _name, _mirror in MIRRORS.items():
    if lib.carom_layout_size(_name.encode()) != ctypes.sizeof(_mirror):
        raise ImportError(f"{_path} has another {_name} than this package; both must come from the same sources")


def version() -> str:
    """The version of the C library."""
    return lib.carom_version().decode()


def library_path() -> str:
    """The C library in use."""
    return _path


class Handle:
    """C objects that belong together, given back in the reverse order when nobody refers to this any more.

    `until` are handles that must live longer; they know this one among their `users`.  A handle refers to nothing else: arrays keep it, and a cycle through an array is never
    collected.
    """

    def __init__(self, *until):
        self._things = []  # (pointer, destroy)
        self.users = weakref.WeakSet()
        for other in until:
            other.users.add(self)
        weakref.finalize(self, _give_back, self._things, until)

    def add(self, pointer, destroy):
        self._things.append((pointer, destroy))
        return self

    @property
    def pointer(self):
        return self._things[0][0]

    def drop(self):
        """Give back the last one."""
        pointer, destroy = self._things.pop()
        destroy(pointer)


def _give_back(things, until):
    while things:
        pointer, destroy = things.pop()
        destroy(pointer)


class Calm:
    """While C may call Python, Ctrl-C must not raise just before a function begins: the library would take that for a success.
    Here it only sets a mark, `interrupted`, which the functions look at."""

    def __init__(self):
        self.interrupted = False
        self._old = None

    def __enter__(self):
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._old = signal.signal(signal.SIGINT, self._mark)
        return self

    def _mark(self, number, frame):
        self.interrupted = True

    def __exit__(self, *what):
        if self._old is not None:
            signal.signal(signal.SIGINT, self._old)
            self._old = None


class Made:
    """What carom makes and users do not."""
    _made_by = ""

    def __init__(self) -> None:
        raise TypeError(f"carom.{type(self).__name__} has no public constructor; {self._made_by} make{'' if ' and ' in self._made_by else 's'} it")

    @classmethod
    def _make(cls, *given: Any, **named: Any) -> Any:
        self = cls.__new__(cls)
        self._set_up(*given, **named)
        return self

    def _set_up(self, *given: Any, **named: Any) -> None:
        pass


# -- small conversions -----------------------------------------------------------------------------------------------

def text(b):
    return None if b is None else b.decode("utf-8", "replace")


def strings(words):
    """A NULL-terminated array of C strings."""
    words = [w.encode() for w in words]
    return (c_char_p * (len(words) + 1))(*words, None)


def number(x):
    """A number or word as carom reads it; every bit of a number is kept."""
    if isinstance(x, bool):
        return "on" if x else "off"
    return x if isinstance(x, str) else repr(x.item() if hasattr(x, "item") else x)


def seconds(name, x):
    """A time, given as a number or as a text with a unit."""
    if not isinstance(x, str):
        return x
    value, err, text = c_double(), CError(), x.encode()
    if not lib.carom_model_quantity(None, b"t", text, len(text), ctypes.byref(value), ctypes.byref(err)):
        raise InputError(f"{name}: {err.text.decode('utf-8', 'replace')}")
    return value.value


def pairs(given):
    """{"m": 3} or ["m=3"] as ["m=3"]."""
    if given is None:
        return []
    if isinstance(given, dict):
        return [f"{k}={number(v)}" for k, v in given.items()]
    return [given] if isinstance(given, str) else list(given)


def listed(pointer):
    """A NULL-terminated array of C strings as a list."""
    words = []
    while pointer and pointer[len(words)]:
        words.append(pointer[len(words)].decode())
    return words


def schemes() -> dict[str, dict[str, Any]]:
    """All schemes: {name: {"about", "order", "own_steps", "options": {option: (default, about)}}}."""
    found = {}
    for s in _each_scheme():
        options, i, room = {}, 0, ctypes.create_string_buffer(64)
        while s.options and s.options[i].name:
            o = s.options[i]
            lib.carom_option_write(ctypes.byref(o), o.fallback, room, 64)
            options[o.name.decode()] = (room.value.decode(), o.about.decode())
            i += 1
        found[s.name.decode()] = {"about": s.about.decode(), "order": s.order, "own_steps": s.own_steps, "options": options}
    return found


def _each_scheme():
    i = 0
    while (line := lib.carom_scheme_line_at(i)).name:
        yield line
        i += 1
