"""Simulations step by step and row by row."""
import unittest

from common import TEXT, Case, carom, np, oscillator


class Stream(Case):
    def test_rows_are_those_of_a_run(self):
        for given in ({}, dict(every=7), dict(dt_out=0.013), dict(adaptive=True, rtol=1e-5)):
            whole = carom.run(TEXT, **given)
            sim = carom.simulate(TEXT, **given)
            rows = list(sim)
            self.assertEqual(np.array([r.values for r in rows]).tobytes(), whole.data.tobytes())
            self.same(sim.finish(), whole)
        self.assertEqual(rows[3]["q"], whole["q"][3])
        self.assertEqual(rows[-1].t, 10)
        with self.assertRaisesRegex(KeyError, "no column 'z'"):
            rows[0]["z"]

    def test_steps_show_the_state_as_it_is(self):
        whole = carom.run(TEXT, every=1)
        with carom.simulate(TEXT, every=1) as sim:
            q, v = sim.q, sim.v
            for k, t in enumerate(sim.steps()):
                if k % 100 == 0:
                    self.assertEqual((t, q[0], v[0], sim.gaps[0]), (whole.t[k + 1], whole["q"][k + 1], whole["q'"][k + 1], whole["stop.gap"][k + 1]))
            self.assertTrue(sim.done)
            self.assertEqual(sim.n, 10000)
        self.same(sim.finish(), whole)
        with self.assertRaises(ValueError):
            q[0] = 1

    def test_a_run_can_stop_early_and_is_a_result(self):
        sim = carom.simulate(TEXT, dt_out=0.5)
        for row in sim.rows():
            if row["q'"] > 0:
                break
        self.assertLess(sim.t, 2.6)
        r = sim.finish()
        self.assertEqual(r.info["status"], "interrupted")
        self.assertEqual(r.t[-1], row.t)
        self.assertEqual(r.ledger["impacts"], 1)

    def test_the_ledger_can_be_looked_at_on_the_way(self):
        sim = carom.simulate(TEXT)
        self.assertEqual(sim.advance(2000).ledger["impacts"], 1)
        self.assertEqual((sim.n, round(sim.t, 9)), (2000, 2.0))
        self.assertEqual(sim.advance(3000).ledger["impacts"], 2)
        self.same(sim.run(), carom.run(TEXT))
        self.assertEqual(sim.ledger["impacts"], 3)

    def test_what_is_finished_is_finished(self):
        sim = carom.simulate(TEXT)
        sim.finish()
        for call in (sim.advance, lambda: next(sim.steps()), lambda: sim.advance(3)):
            with self.assertRaisesRegex(carom.InputError, "finished"):
                call()
        self.assertEqual([row.t for row in sim.rows()], [0])  # what it has
        self.assertEqual(sim.q[0], 1)
        for row in (sim := carom.simulate(TEXT)).rows():
            sim.finish()  # from inside
        with self.assertRaises(carom.InputError):
            next(carom.simulate(TEXT, out=self.folder / "x.h5").rows())

    def test_functions_stream_too(self):
        rows = list(carom.simulate(oscillator(), step=1e-2, end=3, every=50))
        whole = carom.run(oscillator(), step=1e-2, end=3, every=50)
        self.assertEqual(np.array([r.values for r in rows]).tobytes(), whole.data.tobytes())


if __name__ == "__main__":
    unittest.main()
