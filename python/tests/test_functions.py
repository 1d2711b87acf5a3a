"""Models by Python functions: the same motion as text, exceptions that get through, nothing left behind."""
import gc
import os
import signal
import threading
import time
import unittest
import weakref

from common import MODELS, TEXT, Case, carom, np, oscillator

BALL = """carom: 1
coordinates: {x: {at: 0, rate: 2}, y: {at: 0.5}}
energy: {kinetic: "1/2*1.5*(x'^2 + y'^2)", potential: 1.5*9.81*y}
forces: {x: -0.2*x'}
contacts:
  ground: {gap: y, slip: x, restitution: 0.6, friction: 0.3}
  wall: {gap: 1 + 0.1*sin(3*t) - x, restitution: 0.8}
"""
BARE = BALL.replace("forces: {x: -0.2*x'}\n", "").split("  wall")[0]
GIVEN = dict(step=1e-3, end=2)


def close(case, a, b, tolerance):
    case.assertEqual(a.columns, b.columns)
    np.testing.assert_allclose(a.data, b.data, rtol=0, atol=tolerance)
    case.assertEqual(list(a.events["kind"]), list(b.events["kind"]))
    case.assertEqual(list(a.events["contact"]), list(b.events["contact"]))


class Systems(Case):
    def test_a_whole_model_moves_like_its_text_to_the_last_bit(self):
        for scheme in ("moreau-explicit", "moreau-midpoint", "half-explicit"):
            a, b = (carom.run(m, scheme=scheme, step=1e-3, end=10) for m in (oscillator(), TEXT))
            for name in ("t", "q", "q'", "stop.impulse"):
                self.assertEqual(a[name].tobytes(), b[name].tobytes(), (scheme, name))
        close(self, carom.run(oscillator(), scheme="moreau-jean", step=1e-3, end=10), carom.run(TEXT, scheme="moreau-jean"), 1e-9)

    def test_friction_moving_walls_and_damping(self):
        whole = dict(mass=np.diag([1.5, 1.5]), force=lambda t, q, v: [-0.2 * v[0], -1.5 * 9.81], potential=lambda t, q: 1.5 * 9.81 * q[1],
                     contacts={"ground": {"restitution": 0.6, "friction": 0.3}, "wall": {"restitution": 0.8}},
                     gaps=lambda t, q: [q[1], 1 + 0.1 * np.sin(3 * t) - q[0]], slips=lambda t, q: q[0])
        exact = dict(whole, directions=lambda t, q: ([[0, 1], [1, 0], [-1, 0]], [0, 0, 0.3 * np.cos(3 * t)]))
        text = carom.run(BALL, **GIVEN)
        for given, tolerance in ((exact, 1e-9), (whole, 1e-7)):
            here = carom.run(carom.System({"x": (0, 2), "y": 0.5}, **given), **GIVEN)
            close(self, here, text, tolerance)
            for name in ("damping", "external", "friction", "impact"):
                self.assertAlmostEqual(here.ledger["energy"][name], text.ledger["energy"][name], delta=1e-7)
        self.assertGreater(text.ledger["energy.damping"], 0.1)
        self.assertGreater(text.ledger["energy.friction"], 0.1)

    def test_forces_and_contacts_are_added_to_a_model(self):
        model = carom.Model(BARE)
        here = carom.run(model.add(force=lambda t, q, v: [-0.2 * v[0], 0], contacts={"wall": {"restitution": 0.8}},
                                   gaps=lambda t, q: 1 + 0.1 * np.sin(3 * t) - q[0]), **GIVEN)
        close(self, here, carom.run(BALL, **GIVEN), 1e-7)
        with_nothing = carom.run(model.add(force=lambda t, q, v: [0, 0]), **GIVEN)
        self.assertEqual(with_nothing["x"].tobytes(), carom.run(BARE, **GIVEN)["x"].tobytes())
        file = self.folder / "added.h5"
        self.same(carom.run(model.add(force=lambda t, q, v: [0, 0]), out=file, **GIVEN), with_nothing)

    def test_bilateral_constraints(self):
        s = carom.System({"x": (1, 0), "y": (0, 1)}, mass=np.eye(2), constraints=["circle"], gaps=lambda t, q: q @ q - 1,
                         directions=lambda t, q: [2 * q])
        r = carom.run(s, scheme="half-explicit", step=1e-3, end=1)
        # Uniform motion on the circle; order 2 with its third derivatives at 1: errors of some h^2.
        np.testing.assert_allclose(r["x"], np.cos(r.t), atol=1e-5)
        self.assertLess(r.ledger["drift"], 1e-5)
        self.assertEqual(r.columns[-3:], ["circle.gap", "circle.force", "circle.impulse"])

    def test_what_is_wrong_is_told(self):
        for words, make in (
                ("mass matrix", lambda: carom.System({"q": 1})),
                ("one of the two", lambda: carom.System()),
                ("neither mass", lambda: carom.Model(BARE).add(mass=np.eye(2))),
                ("gaps", lambda: carom.System({"q": 1}, mass=[[1]], contacts={"c": {}})),
                ("slips", lambda: carom.System({"q": 1}, mass=[[1]], contacts={"c": {"friction": 1}}, gaps=lambda t, q: q)),
                ("bounce", lambda: carom.System({"q": 1}, mass=[[1]], contacts={"c": {"bounce": 1}}, gaps=lambda t, q: q)),
                ("restitution 2", lambda: carom.run(oscillator(contacts={"stop": {"restitution": 2}}), step=1e-3, end=1)),
                ("force(t, q, v) gave 3", lambda: carom.run(oscillator(force=lambda t, q, v: [1, 2, 3]), step=1e-3, end=1)),
                ("mass gave 4", lambda: carom.run(oscillator(mass=np.eye(2)), step=1e-3, end=1)),
                ("read-only", lambda: carom.run(oscillator(force=lambda t, q, v: q.__setitem__(0, 1)), step=1e-3, end=1)),
                ("compare wants", lambda: carom.compare(oscillator(), steps=[0.1]))):
            with self.assertRaises(ValueError) as caught:
                make()
            self.assertIn(words, str(caught.exception))
        with self.assertRaises(carom.SimulationError):
            carom.run(oscillator(force=lambda t, q, v: [float("nan")]), step=1e-3, end=1)


class Boom(Exception):
    pass


def after(calls, function):
    """Raises at that call; counts those after it."""
    def call(*arguments):
        call.n += 1
        if call.n == calls:
            raise Boom(function.__name__)
        return function(*arguments)
    call.n = 0
    return call


class Raising(Case):
    def test_an_exception_anywhere_ends_the_run_with_it(self):
        def force(t, q, v): return -q
        def mass(t, q): return [[1.0]]
        def gaps(t, q): return q
        def directions(t, q): return [[1.0]]
        def potential(t, q): return q[0] ** 2 / 2
        for function in (force, mass, gaps, directions, potential):
            for scheme in ("half-explicit", "moreau-jean", "event-driven"):
                for calls in (1, 2, 3, 40):
                    failing = after(calls, function)
                    with self.subTest(f"{function.__name__}, {scheme}, call {calls}"):
                        try:
                            carom.run(oscillator(**{"mass": mass, function.__name__: failing}), scheme=scheme, step=1e-2, end=10)
                            self.fail("nothing was raised")
                        except Boom as e:
                            frames = [f.f_code for f, _ in _frames(e)]
                        self.assertEqual(failing.n, calls)  # nobody asked again
                        self.assertIn(failing.__code__, frames)

    def test_what_an_exception_holds_can_be_looked_at_later(self):
        def force(t, q, v):
            if t > 0.5:
                raise Boom
            return -q
        try:
            carom.run(oscillator(force=force), scheme="half-explicit", step=1e-3, end=1)
        except Boom as e:
            caught = e
        gc.collect()
        q = [f.f_locals["q"] for f, _ in _frames(caught) if f.f_code is force.__code__][0]
        self.assertAlmostEqual(q[0], np.cos(0.5), delta=2e-3)

    def test_a_failing_run_closes_its_file(self):
        file = self.folder / "half.h5"
        with self.assertRaises(Boom):
            carom.run(oscillator(force=after(400, lambda t, q, v: -q)), step=1e-2, end=10, every=1, out=file)
        r = carom.open(file)
        self.assertEqual(r.info["status"], "failed")
        self.assertGreater(len(r), 10)

    def test_nothing_is_left_behind(self):
        kept = []
        for calls in (100, 10 ** 9):
            s = oscillator(force=after(calls, lambda t, q, v: -q))
            sim = carom.simulate(s, step=1e-2, end=1)
            kept += [weakref.ref(x) for x in (s, sim, sim._bound, sim._bound.handle)]
            try:
                sim.run()
            except Boom:
                pass
            del s, sim
        box = []
        s = oscillator(force=lambda t, q, v: -q + 0 * (box[0].t if box else 0))  # functions that know their simulation; never finished
        box.append(carom.simulate(s, step=1e-2, end=1).advance(10))
        kept += [weakref.ref(x) for x in (s, box[0], box[0]._bound, box[0]._bound.handle)]
        del s, box
        gc.collect()
        self.assertEqual([k() for k in kept], [None] * len(kept))

    @unittest.skipUnless(hasattr(signal, "SIGINT"), "no signals")
    def test_ctrl_c_is_heard(self):
        for model in (oscillator(), TEXT):
            timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
            sim = carom.simulate(model, step=1e-7, end=1e3, every=10 ** 6)
            began = time.monotonic()
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                sim.run()
            self.assertLess(time.monotonic() - began, 10)
            self.assertIn(sim.finish().info["status"], ("interrupted", "failed"))
            self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)


def _frames(e):
    import traceback
    return list(traceback.walk_tb(e.__traceback__))


class Threads(Case):
    def test_runs_at_once_do_not_disturb_each_other(self):
        alone = carom.run(oscillator(), step=1e-2, end=10), carom.run(TEXT), carom.run(MODELS / "slider-crank.yaml", end=0.05)
        found = {}

        def work(i):
            for k in range(3):
                found[i, k] = (carom.run(oscillator(), step=1e-2, end=10), carom.run(TEXT), carom.run(MODELS / "slider-crank.yaml", end=0.05),
                               carom.run(TEXT, out=self.folder / f"{i}.h5"))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(found), 12)
        for results in found.values():
            for a, b in zip(results, alone + (alone[1],)):
                self.same(a, b)


if __name__ == "__main__":
    unittest.main()
