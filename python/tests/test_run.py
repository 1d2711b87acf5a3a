"""Runs of model files: the same bits as `carom run`, columns without copies, failures as exceptions."""
import gc
import json
import math
import unittest
import weakref

from common import MODELS, TEXT, Case, carom, np, program


class Run(Case):
    def test_every_bit_is_that_of_the_program(self):
        cases = [("bouncing-ball", {}, []),
                 ("slider-crank", dict(end=0.03, every=7), ["--end", "0.03", "--every", "7"]),
                 ("slider-crank", dict(scheme="moreau-jean", step=3e-5, end=0.02, options={"theta": 0.7}, set={"c": 2e-3}),
                  ["--scheme", "moreau-jean", "--step", "3e-5", "--end", "0.02", "--option", "theta=0.7", "--set", "c=2e-3"]),
                 ("two-ball-oscillator", dict(adaptive=True, rtol=1e-5, atol=1e-7), ["--adaptive", "--rtol", "1e-5", "--atol", "1e-7"]),
                 ("bouncing-ball", dict(scheme="event-driven", rtol=1e-9, dt_out=0.05),
                  ["--scheme", "event-driven", "--rtol", "1e-9", "--dt-out", "0.05"])]
        for name, given, words in cases:
            with self.subTest(name, **given):
                file = self.folder / f"{name}.h5"
                said = json.loads(program("run", MODELS / f"{name}.yaml", "--out", file, "--json", *words))
                here = carom.run(MODELS / f"{name}.yaml", **given)
                self.same(here, carom.open(file))
                for k, x in here.ledger.items():
                    if k not in ("seconds", "wall", "ns_per_step"):
                        self.assertEqual(x, said[k], k)
                self.assertEqual([(t, m) for t, m, *_ in here.checks], [(x["check"], x["met"]) for x in said["checks"]])
                self.assertEqual(here.info["options"], carom.open(file).info["options"])
                self.assertEqual(here.model_text, (MODELS / f"{name}.yaml").read_text())

    def test_parameters_are_set_in_a_model_that_is_there(self):
        model = carom.Model(TEXT)
        for given in ({"e": 0.25}, {"k": 4.0}, {"e": 1e-3, "k": "2*2.5"}, {"e": 0}):
            with self.subTest(**given):
                self.assertIs(model.set(given), model)
        self.assertEqual(model.parameters, {"e": 0, "k": 5})
        self.same(carom.run(model), carom.run(TEXT, set={"e": 0, "k": 5}))
        first = carom.run(model.set(e=0.5))  # alive: it keeps the model it has
        second = carom.run(model.set(e=0.75, k=1))
        self.same(first, carom.run(TEXT, set={"e": 0.5, "k": 5}))
        self.same(second, carom.run(TEXT, set={"e": 0.75}))
        for wrong in ({"e": 2}, {"r": 1}, {"k": "x"}):
            with self.subTest(**wrong), self.assertRaises(carom.InputError):
                model.set(wrong)
            self.assertEqual(model.parameters, {"e": 0.75, "k": 1})

    def test_matrices_come_from_files_texts_and_arrays(self):
        text = ("carom: 1\nflexible: {f: {type: matrices, mass: M, stiffness: K, rate: {vector: v}, points: {tip: 2}}}\n"
                "contacts: {stop: {gap: 0.1 - f.tip.u, restitution: 0.5}}\nsimulation: {scheme: moreau-jean, step: 1e-3, end: 0.3}\n")
        K, M = np.array([[100.0, -50.0], [-50.0, 50.0]]), "%%MatrixMarket matrix array real symmetric\n2 2\n1\n0\n2\n"
        (self.folder / "M.mtx").write_text(M)
        one = carom.run(text, matrices={"M": M, "K": K, "v": [1, 2]}, out=self.folder / "x.h5")
        two = carom.run(carom.Model(text, matrices={"M": self.folder / "M.mtx", "K": K, "v": np.array([[1], [2]])}))
        self.same(one, two)
        self.assertEqual(one.ledger["impacts"], 1)
        swept = carom.sweep(carom.Model("parameters: {e: 0}\n" + text.replace("0.5", "e"), matrices={"M": M, "K": K, "v": [1, 2]}),
                            {"e": [0, 0.5]}, "f.tip.u")
        self.assertEqual(swept["f.tip.u"][1], one["f.tip.u"][-1])
        with self.assertRaisesRegex(carom.InputError, "no matrix 'v' is given"):
            carom.run(text, matrices={"M": M, "K": K})

    def test_files_hold_what_memory_holds(self):
        memory = carom.run(TEXT)
        for ending in (".h5", ".csv"):
            there = carom.run(TEXT, out=self.folder / f"x{ending}")
            self.same(memory, there)
            self.same(memory, carom.open(self.folder / f"x{ending}"))
        self.assertEqual(there.ledger, {})  # CSV has none
        self.assertEqual(carom.open(self.folder / "x.h5").ledger["impacts"], 3)

    def test_warnings_are_a_list(self):
        self.assertEqual(carom.run(TEXT).ledger["warnings"], [])
        gains = """carom: 1
coordinates: {x: {at: 0, rate: 0.3}, y: {at: sin(0.6) + 1e-3, rate: -0.5}, th: {at: 0.6, rate: 0}}
energy: {kinetic: (x'^2 + y'^2 + 0.1*th'^2)/2}
contacts: {tip: {gap: y - sin(th), slip: x - cos(th), restitution: 1, friction: 5}}
simulation: {scheme: mixed, step: 1e-4, end: 4e-3}
"""
        for result in carom.run(gains), carom.run(gains, out=self.folder / "gains.h5"):
            [warning] = result.ledger["warnings"]
            self.assertEqual((warning["kind"], warning["name"]), ("energy-created", "tip"))
            self.assertAlmostEqual(warning["t"], 0.002, 6)

    def test_errors_are_estimated(self):
        said = json.loads(program("run", MODELS / "bouncing-ball.yaml", "--out", self.folder / "e.h5", "--json", "--estimate"))
        here = carom.run(MODELS / "bouncing-ball.yaml", estimate=True).ledger["estimate"]
        self.assertEqual(here, said["estimate"])
        self.assertEqual(carom.open(self.folder / "e.h5").ledger["estimate"], here)
        self.assertEqual([x["name"] for x in here["quantities"]], ["q", "q'", "energy", "energy.impact"])
        self.assertLess(here["quantities"][0]["error"], 1e-5)
        self.assertIsNone(carom.run(MODELS / "bouncing-ball.yaml").ledger["estimate"])

    def test_columns_are_views_that_keep_their_memory(self):
        r = carom.run(TEXT)
        q, data = r["q"], r.data
        self.assertTrue(np.shares_memory(q, data))
        self.assertIs(r.data, data)
        self.assertFalse(q.flags.owndata or q.flags.writeable)
        handle, copy = weakref.ref(r._handle), q.copy()
        del r, data
        gc.collect()
        self.assertIsNotNone(handle())
        carom.run(TEXT)  # somebody else may ask for memory
        self.assertEqual(q.tobytes(), copy.tobytes())
        del q
        gc.collect()
        self.assertIsNone(handle())

    def test_the_motion_is_the_one_that_physics_wants(self):
        r = carom.run(TEXT)
        n = np.floor(r.t / math.pi + 0.5)
        # A gap that is seen closed at a midpoint acts at the end of that step: 1.5 steps late at most, shifting all that follows.
        late = 3 * 1.5e-3
        self.assertLess(np.abs(r["q"] - 0.5 ** n * np.abs(np.cos(r.t))).max(), late)  # rates are below 1
        kinds = r.events["kind"]
        self.assertEqual(list(r.events["contact"][kinds == "impact"]), ["stop"] * 3)
        np.testing.assert_allclose(r.events["t"][kinds == "impact"], (np.arange(3) + 0.5) * math.pi, rtol=0, atol=late)
        self.assertEqual(r.checks, [("impacts == 3", True, 3.0, 3.0)])

    def test_snapshots_of_contacts(self):
        r = carom.run("carom: 1\ngravity: [0, 0, -10]\nrecord: {contacts: 0.05}\n"
                      "bodies: {a: {mass: 2, inertia: [1, 1, 1], at: [0, 3, 0.1], shape: {sphere: 0.1}}}\nshapes: {floor: {plane: [0, 0, 1]}}\n"
                      "contacts: {stand: {between: [a, floor], friction: 0.3}}\nsimulation: {scheme: moreau-midpoint, step: 1e-3, end: 0.1}\n")
        np.testing.assert_allclose(r.contacts["t"], [0.05, 0.1], atol=1e-9)
        self.assertEqual(list(r.contacts["contact"]), ["stand", "stand"])
        np.testing.assert_allclose(r.contacts["force"], [[0, 0, 20]] * 2, atol=1e-6)
        np.testing.assert_allclose(r.contacts["point"], [[0, 3, 0]] * 2, atol=1e-6)

    def test_failures_are_exceptions_with_the_librarys_sentence(self):
        def told(kind, words, *given, **named):
            with self.assertRaises(kind) as caught:
                carom.run(*given, **named)
            self.assertIn(words, str(caught.exception))
            return caught.exception
        told(carom.InputError, "did you mean", TEXT.replace("1/2*k*q^2", "1/2*kk*q^2"))
        told(carom.InputError, "model:5:", TEXT.replace("k*q^2", "k*nobody^2"))
        told(ValueError, "unknown scheme", TEXT, scheme="euler")
        told(carom.InputError, "nonsense", TEXT, options={"nonsense": 1})
        told(carom.InputError, "did you mean", TEXT, set={"kk": 1})
        told(carom.InputError, "must be positive, got -1", TEXT, step=-1)
        told(carom.InputError, "the step size is missing", TEXT.replace("step: 1e-3, ", ""))
        told(carom.InputError, "end time is missing", TEXT.replace(", end: 10", ""))
        told(carom.InputError, "add `adaptive`", TEXT, rtol=1e-3)
        told(carom.InputError, "twice", TEXT, every=2, dt_out=0.1)
        told(carom.InputError, "neither in .h5", TEXT, out="x.txt")
        told(carom.FileError, "cannot read nowhere.yaml", "nowhere.yaml")
        told(OSError, "nowhere", TEXT, out="/nowhere/x.h5")
        grows = TEXT.replace("1/2*k*q^2", "-1/2*k*q^2").replace("e: 0.5, k: 1", "e: 0.5, k: 1e10")
        e = told(carom.SimulationError, "the solution diverges", grows, scheme="moreau-explicit", step=0.1, end=100)
        self.assertEqual(e.result.info["status"], "failed")
        self.assertGreater(len(e.result), 1)
        with self.assertRaises(carom.FileError):
            carom.open(MODELS / "bouncing-ball.yaml")
        with self.assertRaisesRegex(KeyError, "did you mean 'stop.gap'"):
            carom.run(TEXT)["stop.gab"]
        with self.assertRaisesRegex(KeyError, "energy.nothing"):
            carom.run(TEXT).ledger["energy.nothing"]

    def test_a_model_tells_what_it_is_made_of(self):
        m = carom.Model(TEXT, set={"k": "2*2"})
        self.assertEqual((m.name, m.coordinates, m.velocities, m.contacts, m.constraints), ("Impacting oscillator", ["q"], ["q'"], ["stop"], ["stop"]))
        self.assertEqual(m.parameters, {"e": 0.5, "k": 4.0})
        self.assertEqual((m.simulation.scheme, m.simulation.step, m.simulation.end), ("moreau-midpoint", 1e-3, 10))
        with self.assertRaises(carom.InputError):
            carom.run(m, set={"k": 1})
        bare = carom.Model(TEXT.split("simulation")[0])
        self.assertEqual((bare.simulation.scheme, bare.simulation.step), (None, None))

    def test_notebooks_get_something_to_look_at(self):
        r = carom.run(TEXT)
        for html in (r._repr_html_(), r.ledger._repr_html_()):
            self.assertIn("energy.balance", html)
        self.assertIn("<polyline", r._repr_html_())
        self.assertIn("&lt;", carom.run(TEXT.replace("name: Imp", "name: <b> Imp"))._repr_html_())
        self.assertIn("moreau-jean", carom.schemes())


class Mechanisms(Case):
    def pendulum(self):
        m = carom.Mechanism("pendulum", parameters={"l": 0.5}, gravity=[0, -9.81])
        m.bodies["rod"] = {"mass": 1, "inertia": np.float64(0.1), "at": ["l", 0], "points": {"tip": np.array([0.5, 0.0])}}
        m.joints["pin"] = dict(type="revolute", between=("ground", "rod"), at=[0, 0])
        m["contact defaults"] = {"restitution": 0.5}
        m.contacts["wall"] = {"gap": "rod.tip.y + 0.8"}
        m.outputs = {"tip": "rod.tip.x"}
        m.simulation = {"scheme": "moreau-jean", "step": 1e-3, "end": 1, "options": {"theta": 0.5}}
        return m

    def test_data_and_text_make_the_same_model(self):
        m = self.pendulum()
        a, b = carom.run(m), carom.run(m.text)
        self.assertEqual(a.columns, b.columns)
        self.assertTrue((a.data == b.data).all())
        self.assertGreater(a.ledger["impacts"], 0)
        self.assertEqual(m.model(set={"l": 0.4}).parameters, {"l": 0.4})

    def test_copies_are_independent(self):
        m = self.pendulum()
        n = m.copy()
        self.assertEqual(m, n)
        n.bodies["rod"]["mass"] = 2
        self.assertNotEqual(m, n)

    def test_a_start_has_the_states_of_controllers(self):
        text = ("carom: 1\ncoordinates: {x: {at: 1}}\ncontrollers: {c: {sample: 0.1, states: {s: s + x}, outputs: {u: -2*x - s}}}\n"
                "energy: {kinetic: x'^2/2}\nforces: {x: u}\nsimulation: {step: 1e-2, end: 0.95, scheme: moreau-jean}\n")
        first = carom.run(text, out=self.folder / "first.h5")
        for start in (first, self.folder / "first.h5"):  # the first sample adds x to the state
            self.assertEqual(carom.run(text, start=start)["s"][0], first["s"][-1] + first["x"][-1])

    def test_states_and_parameters_change_between_steps(self):
        text = "carom: 1\nparameters: {g: 10}\ncoordinates: {x: {rate: 2}, y: {at: 5}}\nenergy: {kinetic: (x'^2 + y'^2)/2, potential: g*y}\nsimulation: {scheme: moreau-midpoint, step: 0.01, end: 1}\n"
        first = carom.simulate(text)
        first.advance(50)
        second = first.changed({"x'": -1}, set={"g": 0})  # from t = 0.5 on straight ahead
        self.assertAlmostEqual(second.t, 0.5, 14)
        r = second.run()
        y, vy = 5 - 10 * 0.5**2 / 2, -10 * 0.5
        self.assertAlmostEqual(r["x"][-1], 2 * 0.5 - 1 * 0.5, 12)
        self.assertAlmostEqual(r["y"][-1], y + vy * 0.5, 12)
        self.assertAlmostEqual(r.t[0], 0.5, 14)
        self.assertAlmostEqual(r.t[-1], 1, 14)
        self.assertAlmostEqual(first.finish()["x"][-1], 1, 12)
        with self.assertRaisesRegex(carom.InputError, "no coordinate or rate 'z'"):
            second.changed({"z": 1}) if not second.done else carom.simulate(text).changed({"z": 1})

    def test_units(self):
        r = carom.run("carom: 1\nparameters: {m: 2 kg}\ncoordinates: {x: {at: 3 mm}}\nenergy: {kinetic: m*x'^2/2}\nsimulation: {step: 1e-2, end: 0.1, scheme: moreau-jean}\n")
        self.assertEqual([r.unit(n) for n in ("t", "x", "x'", "energy", "nothing")], ["s", "m", "m/s", "J", None])
        self.same(carom.run(MODELS / "bouncing-ball.yaml", step="2 ms", end="1500 ms", dt_out="100 ms"), carom.run(MODELS / "bouncing-ball.yaml", step=0.002, end=1.5, dt_out=0.1))
        for given, words in ((dict(step="2 mm"), "step: '2 mm' is not a time"), (dict(end="soon"), "end: 'soon' is not a time"), (dict(dt_out="-1 ms"), "dt_out must be positive, got -0.001")):
            with self.assertRaisesRegex(carom.InputError, words):
                carom.run(MODELS / "bouncing-ball.yaml", **given)

    def test_mistakes_name_their_entry(self):
        for words, change in (("bodies.rod: ", lambda m: m.bodies["rod"].update(mas=1)), ("joints.pin: ", lambda m: m.joints["pin"].update(between=["ground", "rad"])),
                              ("bodies.rod.mass: expected a number, text, list or dict, got object", lambda m: m.bodies["rod"].update(mass=object())), ("'bodyes'", lambda m: m.sections.update(bodyes={"a": {}})),
                              ("NUL", lambda m: m.outputs.update(x="a\0b"))):
            m = self.pendulum()
            change(m)
            with self.assertRaises(carom.InputError) as caught:
                m.model()
            self.assertIn(words, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
