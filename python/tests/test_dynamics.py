"""States of rest, modes, gradients and fits from Python."""
import math

from common import Case, carom, np

HANGING = """carom: 1
parameters: {k: 50, m: 2}
coordinates: {y: {at: 0.4, rate: 1}}
energy: {kinetic: "1/2*m*y'^2", potential: 1/2*k*y^2 + m*9.81*y}
simulation: {scheme: mixed, step: 0.01, end: 0.5}
"""

TABLE = """carom: 1
parameters: {g: 9.81, e: 0.8, w: 30, A: 0.01}
coordinates: {y: {at: 0, rate: 0.9}}
energy: {kinetic: "1/2*y'^2", potential: g*y}
contacts: {table: {gap: "y - A*sin(w*t)", restitution: e}}
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
        with self.assertRaisesRegex(carom.SimulationError, "unbalanced force"):
            carom.equilibrium('carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: "x\'^2", potential: x}\n')

    def test_modes(self):
        m = carom.modes(HANGING)
        self.assertAlmostEqual(m.frequencies[0], 5 / (2 * math.pi), 12)
        self.assertEqual(m.shapes.shape, (1, 1))
        self.assertEqual(m.names, ["y'"])
        self.assertAlmostEqual(carom.modes(HANGING, at="initial", set={"k": 200}).frequencies[0], 10 / (2 * math.pi), 12)

    def test_optimise(self):
        model = "carom: 1\nparameters: {z: 0.1}\ncoordinates: {x: {at: 1, rate: 0}}\nenergy: {kinetic: \"x'^2/2\", potential: x^2/2}\nforces: {x: \"-2*z*x'\"}\nsimulation: {scheme: event-driven, step: 0.1, end: 10}\n"
        o = carom.optimise(model, by={"z": (0.01, 2)}, minimise="integral(x^2)")
        self.assertAlmostEqual(o.values["z"], 0.4997829188, 7)
        self.assertEqual(len(o.history["z"]), o.runs)
        self.assertEqual(carom.Model(o.text).parameters["z"], o.values["z"])
        with self.assertRaisesRegex(carom.InputError, "minimise"):
            carom.optimise(model, by={"z": (0, 1)})

    def test_basins(self):
        model = "carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: \"x'^2/2\", potential: x^4/4}\nforces: {x: \"0.35*cos(t) - 0.2*x'\"}\nsimulation: {scheme: half-explicit-rk, step: 0.05, end: 10}\n"
        b = carom.basins(model, {"x": "-2:2:3", "x'": np.linspace(-1, 1, 3)}, workers=2)
        self.assertEqual(b.runs["label"].tolist(), [1, 1, 1, 1, 2, 1, 1, 1, 1])

    def test_gradient(self):
        # y = Y - g t^2/2 until T = sqrt(2 Y/g), then e u s - g s^2/2, s = t - T, u = sqrt(2 g Y)
        ball = "carom: 1\nparameters: {g: 10, e: 0.5}\ncoordinates: {y: 1}\nenergy: {kinetic: y'^2/2, potential: g*y}\ncontacts: {floor: {gap: y, restitution: e}}\n"
        g = carom.gradient(ball, "y", ["e", "y"], end=0.6, step=0.1, rows=True)
        s = 0.6 - math.sqrt(0.2)
        self.assertAlmostEqual(g["e"], math.sqrt(20) * s, 8)
        self.assertEqual(g.gradients.shape, (6, 2))
        self.assertLess(np.abs(g.values[:4] - (1 - 5 * g.t[:4] ** 2)).max(), 1e-10)
        self.assertLess(np.abs(g.gradients[:4] - [0, 1]).max(), 1e-10)
        self.assertEqual(g.gradients[-1].tolist(), g.gradient.tolist())
        carom.gradient(ball, "2*y", ["e", "y"], end=0.6, step=0.1, out=self.folder / "g.h5")
        r = carom.open(self.folder / "g.h5")
        np.testing.assert_allclose(r["2*y by e"][1:], 2 * g.gradients[:, 0], atol=1e-12)
        np.testing.assert_allclose(r["y by y"][1:], g.gradients[:, 1], atol=1e-12)
        self.assertAlmostEqual(r["y' by e"][-1], math.sqrt(20), 8)
        with self.assertRaisesRegex(carom.InputError, "no parameter"):
            carom.gradient(ball, "y", "z", end=0.6)

    def test_controllers_go_on(self):
        model = """carom: 1
parameters: {c: 1}
coordinates: {x: {at: 1}}
energy: {kinetic: "1/2*x'^2", potential: 1/2*x^2}
controllers: {pi: {sample: 0.1, states: {s: s + 0.1*x}, outputs: {u: "-0.5*x' - s"}}}
forces: {x: u}
outputs: {z: c*x}
simulation: {scheme: event-driven, step: 0.05, end: 1}
"""
        whole, first = carom.run(model, end=2), carom.run(model, out=self.folder / "first.h5")
        for start in (first, self.folder / "first.h5"):
            second = carom.run(model, start=start)
            self.assertAlmostEqual(second["x"][-1], whole["x"][-1], 9)
            self.assertAlmostEqual(second["s"][-1], whole["s"][-1], 9)
            t = carom.sweep(model, {"c": [2.0]}, observe=["z", "s"], start=start)
            self.assertAlmostEqual(float(t["z"][0]), 2 * whole["x"][-1], 9)
            f = carom.fit(model, {"t": [1.0], "z": [3 * whole["x"][-1]]}, free=["c"], match={"z": "z"}, start=start)
            self.assertAlmostEqual(f.values["c"], 3, 6)
        sim = carom.simulate(model, end=2)
        while sim.t < 1 - 1e-9:
            sim.advance(1)
        self.assertAlmostEqual(sim.changed().advance().finish()["s"][-1], whole["s"][-1], 9)

    def test_brake_has_no_coordinate(self):
        held = 'carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: "x\'^2/2", potential: 2*x^2}\ncontacts: {b: {normal force: 9, slip: x, friction: 0.5}}\n'
        self.assertEqual(carom.modes(held, contacts="open").names, ["x'"])
        self.assertEqual(list(carom.equilibrium(held).state), ["x", "x'"])

    def test_orbit_follow_lyapunov(self):
        g, e, w = 9.81, 0.8, 30
        o = carom.orbit(TABLE, period="2*pi/w", transient=20)
        self.assertLess(o.residual, 1e-10)
        self.assertTrue(o.stable)
        self.assertAlmostEqual(abs(np.prod(o.multipliers)), e**2, 8)
        self.assertEqual([k for _, _, k in o.events], ["impact"])
        r = o.run()
        self.assertAlmostEqual(r["y"][-1], r["y"][0], 10)
        b = carom.follow(TABLE, orbit=o, by="A", between=(0.0035, 0.012))
        fold = g * math.pi * (1 - e) / (1 + e) / w**2
        self.assertEqual(b.events[0][1], "period-doubling")
        self.assertEqual(b.events[1][1], "fold")
        self.assertAlmostEqual(b.events[1][0], fold, 9)
        self.assertEqual(len(b["max(y)"]), len(b))
        self.assertTrue(b.complete)
        self.assertIsNone(b.note)
        self.assertFalse(carom.follow(TABLE, orbit=o, by="A", between=(0.0035, 0.012), points=5).complete)
        x = carom.lyapunov(TABLE, transient=20, end=10)
        self.assertAlmostEqual(x.sum, 2 * math.log(e) * w / (2 * math.pi), 1)
        self.assertEqual(x.history.shape[1], 3)
        a = carom.follow(HANGING, equilibrium=carom.equilibrium(HANGING), by="k", between=(20, 50))
        np.testing.assert_allclose(a["y"], -2 * 9.81 / a["k"], rtol=1e-9)
        with self.assertRaisesRegex(carom.InputError, "does not repeat itself"):
            carom.orbit(TABLE, period=0.1)
        with self.assertRaisesRegex(carom.SimulationError, "converged to an equilibrium") as failure:
            carom.orbit("carom: 1\ncoordinates: {x: 1}\nenergy: {kinetic: \"1/2*x'^2\", potential: 1/2*x^2}\nforces: {x: \"-0.2*x'\"}\n", period="free", end=20)
        best = failure.exception.best
        self.assertEqual(best.q.shape, (1,))
        self.assertFalse(best.found)
        self.assertIsNone(best.stable)
        self.assertIn("not an orbit", repr(best))

    def test_friction_sets_and_rigid_modes(self):
        block = "carom: 1\ncoordinates: {x: 0.8, y: 0.2}\nenergy: {kinetic: \"1/2*(x'^2 + y'^2)\", potential: 9.81*y + 5*x^2}\ncontacts: {p: {gap: y, slip: x, friction: 0.5}}\n"
        e = carom.equilibrium(block, range="x")
        self.assertFalse(e.unique)  # a set, although the forces are unique
        self.assertEqual(e.free, 0)
        np.testing.assert_allclose(e.range["x"], (-0.4905, 0.4905), rtol=1e-9)
        self.assertEqual(list(carom.equilibrium(block, range=["x", "y"]).range), ["x", "y"])
        with self.assertRaisesRegex(carom.InputError, "no coordinate 'z'"):
            carom.equilibrium(block, range="z")
        free = "carom: 1\ncoordinates: {a: 0, b: 0}\nenergy: {kinetic: \"1/2*(a'^2 + b'^2)\", potential: 50*(a - b)^2}\n"
        m = carom.modes(free)
        self.assertEqual(m.rigid.tolist(), [True, False])
        self.assertEqual(len(carom.modes(free, count=1)), 1)
        with self.assertRaisesRegex(carom.InputError, "neither open nor closed"):
            carom.modes(free, contacts="shut")

    def test_response_and_curves(self):
        model = "carom: 1\nparameters: {F: 0.3, w: 1.2}\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: \"1/2*x'^2\", potential: 1/2*x^2 + 1/4*x^4}\nforces: {x: \"F*cos(w*t) - 0.2*x'\"}\n"
        o = carom.orbit(model, period="2*pi/w", transient=30)
        b = carom.follow(model, orbit=o, by="w", between=(1.2, 1.3), period="2*pi/w", response="x")
        self.assertAlmostEqual(b["w"][-1], 1.3, 12)
        self.assertAlmostEqual(b["x.amplitude"][-1], 1.032702885561, 8)
        self.assertAlmostEqual(b["x.phase"][-1], -63.9760133990, 6)
        self.assertAlmostEqual(b["x.h3"][-1], 0.021822915951, 8)
        b = carom.follow(model, orbit=o, by="w", between=(1.2, 1.45), period="2*pi/w", response="x")
        fold = [value for value, e in b.events if e == "fold"][0]
        folds = b.curve("fold", {"w": (1.2, 1.5), "F": (0.25, 0.31)}, points=4)
        self.assertAlmostEqual(min(abs(folds["w"] - fold) + abs(folds["F"] - 0.3)), 0, 7)
        backbone = b.curve("quadrature", {"w": (1, 1.8), "F": (0.28, 0.32)}, points=4)
        self.assertIn("amplitude", backbone.names)
        self.assertGreater(len(backbone), 3)
        for wrong, what in ((dict(kind="folds"), "kind is one of"), (dict(kind="hopf"), "0 events of the kind"), (dict(kind="fold", number=9), "not number 9"),
                            (dict(kind="fold", by={"w": (1, 2)}), "two parameters"), (dict(kind="fold", by={"w": (1, 2), "q": (0, 1)}), "no parameter")):
            with self.assertRaisesRegex(carom.InputError, what):
                b.curve(**{"by": {"w": (1, 2), "F": (0.1, 0.4)}, **wrong})
        with self.assertRaisesRegex(carom.InputError, "needs a branch with response="):
            carom.follow(model, orbit=o, by="w", between=(1.19, 1.21), period="2*pi/w").curve("quadrature", {"w": (1, 2), "F": (0.1, 0.4)})

    def test_nonlinear_modes_and_switching(self):
        stop = "carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", potential: 1/2*x^2}\ncontacts: {stop: {gap: 1 - x, restitution: 1}}\n"
        b = carom.follow(stop, conservative=True, between=(0.1, 2))
        self.assertEqual([e for _, e in b.events], ["grazing stop"])
        self.assertAlmostEqual(b["period"][-1], 4 * math.pi / 3, 8)
        two = "carom: 1\ncoordinates: {a: 0, b: 0}\nenergy: {kinetic: \"1/2*(a'^2 + b'^2)\", potential: a^2 - a*b + b^2 + a^4/8}\n"
        self.assertAlmostEqual(carom.follow(two, conservative=True, by="energy", between=(0.001, 1))["period"][-1], 5.89468561546, 7)
        self.assertAlmostEqual(carom.follow(two, conservative=True, mode=2, between=(0.001, 0.01))["period"][0], 2 * math.pi / math.sqrt(3), 2)
        with self.assertRaisesRegex(carom.InputError, "the parameter is the energy"):
            carom.follow(two, conservative=True, by="k", between=(0, 1))
        pol = "carom: 1\nparameters: {p: -0.5}\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", potential: 1/2*x^2}\nforces: {x: \"(p - x^2)*x'\"}\n"
        rest = carom.equilibrium(pol)
        for word, branches in ((False, 1), ("hopf", 2), ("all", 2), ("doubling", 1)):
            b = carom.follow(pol, equilibrium=rest, by="p", between=(-0.5, 0.3), switch=word)
            self.assertEqual(b["branch"].max(), branches)
        with self.assertRaisesRegex(carom.InputError, "switch= is"):
            carom.follow(pol, equilibrium=rest, by="p", between=(-0.5, 0.3), switch="hopfs")

    def test_times_in_expressions(self):
        ball = "carom: 1\nparameters: {e: 0.5}\ncoordinates: {y: 1}\nenergy: {kinetic: y'^2/2, potential: 10*y}\ncontacts: {floor: {gap: y, restitution: e}}\n"
        g = carom.gradient(ball, "time of floor.impact[2] - time of floor.impact[1]", "e", end=3)
        self.assertAlmostEqual(g.value, math.sqrt(0.2), 9)
        self.assertAlmostEqual(g["e"], 2 * math.sqrt(0.2), 8)

    def test_fit(self):
        t = np.linspace(0, 1, 30)
        y = 0.3 * np.cos(6 * t)
        f = carom.fit(HANGING.replace("m*9.81*y", "0*y"), {"t": t, "where": y}, free=["k", "y", "y'"], match={"where": "y"}, bounds={"k": (0, None)})
        self.assertAlmostEqual(f.values["k"], 72, 5)
        self.assertAlmostEqual(f.values["y"], 0.3, 7)
        self.assertAlmostEqual(f.values["y'"], 0, 6)
        self.assertEqual(f.covariance.shape, (3, 3))
        self.assertTrue(f.exact)
        pushed = "carom: 1\nparameters: {m: 1}\ninputs: {F: 0}\ncoordinates: {x: 0}\nenergy: {kinetic: \"m/2*x'^2\"}\nforces: {x: F}\n"
        data = [{"t": t, "where": 3.75 * t**2}, {"t": t, "where": t**3 / 1.2}, {"t": t, "where": t**3 / 0.6}]
        f = carom.fit(pushed, data, free=["m"], match={"where": "x"}, experiments=[{"F": 3}, {"F": "2*max(t,0)"}, {"F": ([0, 1], [0, 4])}])
        self.assertAlmostEqual(f.values["m"], 0.4, 8)
        with self.assertRaisesRegex(carom.InputError, "too few data"):
            carom.fit(HANGING, {"t": [0.1], "where": [1.0]}, free=["k", "y"], match={"where": "y"})
