"""carom: mechanical systems that hit things.

    import carom
    r = carom.run("cart.yaml", step=1e-3, set={"m": 0.4})
    r["x"], r.events, r.ledger["penetration"]

Runs, models, results and comparisons are those of the C library libcarom; docs/python.md tells how to use them.
"""
from ._dynamics import Equilibrium, Fit, Gradient, Modes, equilibrium, fit, gradient, modes
from ._library import Error, FileError, InputError, SimulationError, library_path, schemes, version
from ._mechanism import Mechanism
from ._model import Model, System
from ._orbit import Branch, Curve, Lyapunov, Orbit, follow, lyapunov, orbit
from ._page import Page
from ._result import Ledger, Result, open
from ._run import Finding, Simulation, check, run, simulate
from ._search import Basins, Optimum, basins, optimise
from ._study import Comparison, Sweep, Table, bifurcation, compare, sweep

__version__ = version()
__all__ = ["Basins", "Branch", "Comparison", "Curve", "Equilibrium", "Error", "FileError", "Finding", "Fit", "Gradient", "InputError", "Ledger", "Lyapunov", "Mechanism", "Model", "Modes", "Optimum", "Orbit", "Page", "Result", "Simulation",
           "SimulationError", "Sweep", "System", "Table", "basins", "bifurcation", "check", "compare", "equilibrium", "fit", "follow", "gradient", "library_path", "lyapunov", "modes", "open", "optimise", "orbit", "run", "schemes",
           "simulate", "sweep", "version"]
