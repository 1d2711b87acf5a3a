"""States of rest, modes and fits from Python."""
import math

from common import Case, carom, np

HANGING = """carom: 1
parameters: {k: 50, m: 2}
coordinates: {y: {at: 0.4, rate: 1}}
energy: {kinetic: "1/2*m*y'^2", potential: 1/2*k*y^2 + m*9.81*y}
simulation: {scheme: mixed, step: 0.01, end: 0.5}
"""


class Dynamics(Case):
    def test_equilibrium_and_start(self):
        e = carom.equilibrium(HANGING)
        self.assertAlmostEqual(e.state["y"], -2 * 9.81 / 50, 12)
        self.assertTrue(e.unique)
        e.save(self.folder / "rest.state")
        for start in (e, self.folder / "rest.state", {"y": e.q[0], "y'": 0}, (e.q, [0.0])):
            r = carom.run(HANGING, start=start)
            self.assertLess(np.abs(r["y"] - e.q[0]).max(), 1e-12)
        r = carom.run(HANGING)
        self.assertEqual(carom.run(HANGING, start=r, end=0.1)["y"][0], r["y"][-1])
        for wrong in ({"z": 1}, {"y": math.nan}, ([0, 0], [0]), self.folder / "none"):
            with self.assertRaises(carom.Error):
                carom.run(HANGING, start=wrong)
        with self.assertRaisesRegex(carom.SimulationError, "not balanced"):
            carom.equilibrium('carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: "x\'^2", potential: x}\n')

    def test_modes(self):
        m = carom.modes(HANGING)
        self.assertAlmostEqual(m.frequencies[0], 5 / (2 * math.pi), 12)
        self.assertEqual(m.shapes.shape, (1, 1))
        self.assertEqual(m.names, ["y'"])
        self.assertAlmostEqual(carom.modes(HANGING, at="initial", set={"k": 200}).frequencies[0], 10 / (2 * math.pi), 12)

    def test_fit(self):
        t = np.linspace(0, 1, 30)
        y = 0.3 * np.cos(6 * t)
        f = carom.fit(HANGING.replace("m*9.81*y", "0*y"), {"t": t, "where": y}, free=["k", "y", "y'"], match={"where": "y"}, bounds={"k": (0, None)})
        self.assertAlmostEqual(f.values["k"], 72, 5)
        self.assertAlmostEqual(f.values["y"], 0.3, 7)
        self.assertAlmostEqual(f.values["y'"], 0, 6)
        self.assertEqual(f.covariance.shape, (3, 3))
        with self.assertRaisesRegex(carom.InputError, "too few data"):
            carom.fit(HANGING, {"t": [0.1], "where": [1.0]}, free=["k", "y"], match={"where": "y"})
