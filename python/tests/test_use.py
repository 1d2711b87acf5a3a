"""What users of the package expect: files and inputs as in `carom run`, pickles, tables, checks, constructors, quick callbacks."""
import inspect
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

from common import PROGRAM, carom

BALL = """carom: 1
parameters: {m: 1.5, e: 0.7}
inputs: {F: 0}
coordinates: {y: {at: 0.5}}
energy: {kinetic: "1/2*m*y'^2", potential: 9.81*m*y}
forces: {y: F}
contacts: {ground: {gap: y, restitution: e}}
checks: [penetration < 1e-2]
simulation: {scheme: moreau-midpoint, step: 1e-3, end: 2}
"""


class Use(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def put(self, name, text):
        name = os.path.join(self.folder.name, name)
        with open(name, "w") as f:
            f.write(text)
        return name

    def test_files_and_inputs(self):
        exact = carom.run(BALL, inputs={"F": "3*t"})["y"]
        t = np.linspace(0, 2, 5)
        signal = self.put("signal.csv", "t,y\n0,0\n2,6\n")
        table = self.put("m.yaml", BALL.replace("forces: {y: F}", "tables: {cam: signal.csv}\nforces: {y: cam(t)}"))
        for r in (carom.run(BALL, inputs={"F": (t, 3 * t)}), carom.run(BALL, inputs={"F": signal}), carom.run(table),
                  carom.Model(BALL, inputs={"F": "3*t"})):
            r = carom.run(r) if isinstance(r, carom.Model) else r
            self.assertLess(np.abs(r["y"] - exact).max(), 1e-14)
        self.assertTrue(np.array_equal(carom.run(BALL, inputs={"F": 2})["y"], carom.run(BALL, set={"F": 2})["y"]))
        out = os.path.join(self.folder.name, "r.csv")
        subprocess.run([PROGRAM, "run", table, "--out", out, "-q"], check=True)
        self.assertTrue(np.array_equal(carom.open(out)["y"], carom.run(table)["y"]))
        with self.assertRaisesRegex(carom.InputError, "no input or parameter|no parameter or input|did you mean|has no"):
            carom.run(BALL, inputs={"G": 1})
        with self.assertRaisesRegex(carom.InputError, "two arrays of one length"):
            carom.run(BALL, inputs={"F": (t, t[1:])})
        os.remove(signal)
        with self.assertRaisesRegex(carom.InputError, "signal.csv"):
            carom.run(table)

    def test_pickles(self):
        r = carom.run(BALL)
        for q in (pickle.loads(pickle.dumps(r)), pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(r))))):
            self.assertTrue(np.array_equal(q.data, r.data) and np.array_equal(q.events, r.events))
            self.assertEqual((q.checks, q.ledger["steps"], q.info["scheme"]), (r.checks, r.ledger["steps"], r.info["scheme"]))
        file = os.path.join(self.folder.name, "r.h5")
        q = pickle.loads(pickle.dumps(carom.run(BALL, out=file, compress=True)))
        self.assertEqual(q.file, file)
        self.assertTrue(np.array_equal(q.data, r.data))
        grid = carom.sweep(BALL, {"e": [0.1, 0.5]}, processes=True)  # results travel
        self.assertEqual([len(x) for x in grid.results], [len(r), len(r)])

    def test_tables_of_pandas(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no pandas (Debian: python3-pandas)")
        grid = carom.sweep(BALL, {"e": [0.1, 0.5], "m": [1, 2]}, of=["impacts", "penetration"]).to_pandas()
        self.assertEqual((list(grid.columns), len(grid)), (["e", "m", "impacts", "penetration"], 4))
        both = carom.compare(BALL, ["moreau-jean", "moreau-midpoint"], [1e-2, 1e-3], reference="moreau-midpoint:1e-4").to_pandas()
        self.assertEqual((len(both), both.attrs["norm"]), (4, "l1"))
        runs = carom.sweep(BALL, {"e": [0.1, 0.5]}, observe=["max(y)"]).to_pandas()
        self.assertEqual(list(runs.columns), ["run", "e", "status", "message", "max(y)"])

    def test_check(self):
        found = carom.check(BALL)
        self.assertEqual({f.kind for f in found}, {"ok"})
        self.assertIn("warning", {f.kind for f in carom.check(BALL.replace("e: 0.7", "e: 0.7, unused: 1"))})
        with self.assertRaises(carom.InputError):
            carom.check(BALL.replace("gap: y", "gap: nothing"))

    def test_constructors_and_signatures(self):
        for name in ("Branch", "Comparison", "Equilibrium", "Fit", "Gradient", "Lyapunov", "Modes", "Orbit", "Page", "Result", "Simulation", "Sweep", "Table"):
            with self.assertRaisesRegex(TypeError, f"carom.{name} has no public constructor; .* makes? it"):
                getattr(carom, name)()
        for function in (carom.run, carom.simulate):
            given = inspect.signature(function).parameters
            self.assertTrue({"model", "scheme", "step", "set", "inputs", "out"} <= set(given))
            self.assertFalse(any(p.kind is p.VAR_KEYWORD for p in given.values()))
        with self.assertRaisesRegex(TypeError, "not int"):
            carom.run(1)

    def test_quick_callbacks(self):
        def force(t, q, v):
            return (-q[0],)
        best = min(self.seconds(force) for _ in range(3))
        self.assertLess(best, 15e-6)  # 1.5 us on an idle machine; three times the bound of 5 us for a busy one

    def seconds(self, force):
        calls = [0]

        def counted(t, q, v):
            calls[0] += 1
            return force(t, q, v)
        sim = carom.simulate(carom.System({"x": (1.0, 0.0)}, mass=[[1.0]], force=counted), scheme="moreau-midpoint", step=1e-3, end=5, every=1000)
        begun = time.perf_counter()
        sim.run()
        return (time.perf_counter() - begun) / calls[0]

    def test_forces_of_every_kind(self):
        """Lists, tuples, arrays, scalars of NumPy: the same numbers; wrong counts are told."""
        def run(give):
            return carom.run(carom.System({"x": (1.0, 0.0), "y": (0.0, 1.0)}, mass=np.eye(2), force=give), scheme="moreau-midpoint", step=1e-2, end=1).data
        first = run(lambda t, q, v: [-q[0], -2 * q[1]])
        for give in (lambda t, q, v: (-q[0], -2 * q[1]), lambda t, q, v: np.array([-q[0], -2 * q[1]]), lambda t, q, v: [np.float64(-q[0]), -2 * float(q[1])]):
            self.assertTrue(np.array_equal(run(give), first))
        for give in (lambda t, q, v: [0.0], lambda t, q, v: (0.0, 0.0, 0.0), lambda t, q, v: [0.0, "x"]):
            with self.assertRaises((ValueError, TypeError)):
                run(give)

    def test_typed_after_pip(self):
        """What pip installs, built as pip builds it, has the mark that it is typed."""
        here = os.path.join(os.path.dirname(__file__), "..")
        found = subprocess.run([sys.executable, "-c", "import setuptools; print(setuptools.__version__)"], capture_output=True, text=True)
        if found.returncode or int(found.stdout.split(".")[0]) < 61:
            self.skipTest("no setuptools of version 61, which reads pyproject.toml")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(os.path.join(here, "carom"), os.path.join(folder, "carom"), ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copy(os.path.join(here, "pyproject.toml"), folder)
            subprocess.run([sys.executable, "-c", "import setuptools; setuptools.setup()", "-q", "build_py", "--build-lib", "built"], cwd=folder, check=True,
                           capture_output=True)
            built = set(os.listdir(os.path.join(folder, "built", "carom")))
        self.assertEqual(built, {name for name in os.listdir(os.path.join(here, "carom")) if name != "__pycache__"})
        self.assertIn("py.typed", built)


if __name__ == "__main__":
    unittest.main()
