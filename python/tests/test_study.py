"""Comparisons and sweeps."""
import csv
import unittest

from common import MODELS, TEXT, Case, carom, np, oscillator, program


def spring(e):
    return oscillator(contacts={"stop": {"restitution": e}})


def last(result):
    return {"q": result["q"][-1], "impacts": result.ledger["impacts"]}


class Study(Case):
    def test_compare_is_that_of_the_program(self):
        file, ball = self.folder / "c.csv", MODELS / "bouncing-ball.yaml"
        program("compare", ball, "--schemes", "half-explicit,moreau-jean:theta=1", "--steps", "1e-2,1e-3", "--norm", "linf", "--csv", file, "--quiet")
        here = carom.compare(ball, ["half-explicit", "moreau-jean:theta=1"], [1e-2, 1e-3], norm="linf")
        said = {(r["scheme"], float(r["step"])): float(r["error"]) for r in csv.DictReader(file.read_text().splitlines())}
        self.assertEqual({(r["scheme"], r["step"]): r["error"] for r in here.rows}, said)
        self.assertEqual(len(said), 4)
        self.assertEqual(here.names, ["q"])
        steps, errors = here.of("half-explicit")
        self.assertEqual(list(steps), [1e-2, 1e-3])
        self.assertAlmostEqual(here.orders["half-explicit"], np.log10(errors[0] / errors[1]))
        self.assertIn("moreau-jean", here._repr_html_())
        for words, given in (("unknown scheme", dict(schemes="euler")), ("not one of", dict(norm="max")), ("nobody", dict(of="nobody"))):
            with self.assertRaisesRegex(carom.InputError, words):
                carom.compare(ball, steps=[1e-2], **given)

    def test_compare_with_tolerances(self):
        here = carom.compare(TEXT, ["half-explicit:adaptive=on"], tolerances=[1e-3, 1e-5], reference="event-driven:1e-2", threads=1)
        self.assertEqual([r["tolerance"] for r in here.rows], [1e-3, 1e-5])
        self.assertLess(here.rows[1]["error"], here.rows[0]["error"])
        self.assertIn("event-driven", here.reference)

    def test_a_sweep_is_its_runs(self):
        axes = {"e": [0.2, 0.5, 0.8], "k": np.array([1, 4])}
        grid = carom.sweep(TEXT, axes, of=("impacts", "energy.impact", "q"), workers=3)
        self.assertEqual(grid["impacts"].shape, (3, 2))
        for i, e in enumerate(axes["e"]):
            for j, k in enumerate(axes["k"]):
                r = carom.run(TEXT, set={"e": e, "k": k})
                self.assertEqual((grid["q"][i, j], grid["energy.impact"][i, j]), (r["q"][-1], r.ledger["energy.impact"]))
        whole = carom.sweep(TEXT, axes, set={"e": 1})
        np.testing.assert_array_equal(whole["q"], grid["q"])
        self.assertEqual(len(whole.results), 6)
        self.assertIn("energy.impact", grid._repr_html_())

    def test_the_engine_of_sweeps(self):
        table = carom.sweep(TEXT, {"e": "0.2:0.8:3", "k": [1, 4]}, observe=["impacts", "q"], workers=2)
        self.assertEqual(len(table), 6)
        grid = carom.sweep(TEXT, {"e": [0.2, 0.5, 0.8], "k": [1, 4]}, of=("impacts", "q"))
        np.testing.assert_array_equal(table["q"].reshape(3, 2), grid["q"])
        np.testing.assert_array_equal(table["impacts"].reshape(3, 2), grid["impacts"])
        self.assertEqual(set(table.status), {0})
        with self.assertRaisesRegex(carom.InputError, "expected auto, on or off"):
            carom.sweep(TEXT, {"e": [0.2]}, observe="q", lanes="many")
        with self.assertRaisesRegex(carom.InputError, "lanes do not support"):
            carom.sweep(TEXT, {"e": [0.2]}, observe="q", scheme="mixed", lanes="on")
        many = carom.sweep(TEXT, {"e": "0.2:0.8:3", "k": [1, 4]}, observe=["impacts", "q"], scheme="moreau-midpoint", lanes="on")
        one = carom.sweep(TEXT, {"e": "0.2:0.8:3", "k": [1, 4]}, observe=["impacts", "q"], scheme="moreau-midpoint")
        np.testing.assert_allclose(many["q"], one["q"], rtol=0, atol=1e-12)
        np.testing.assert_array_equal(many["impacts"], one["impacts"])
        e, q = carom.bifurcation(TEXT, "e", [0.3, 0.6], "q", section="every 1/2", transient=1, count=3)
        np.testing.assert_array_equal(e, np.repeat([0.3, 0.6], 3))
        self.assertTrue(np.all(np.isfinite(q)))
        with self.assertRaisesRegex(carom.InputError, "no parameter, coordinate or rate 'f'"):
            carom.sweep(TEXT, {"f": [1]}, observe="q")
        with self.assertRaisesRegex(carom.InputError, "belong to"):
            carom.sweep(TEXT, {"e": [1]}, section="every 1")

    def test_sweeps_in_processes_and_of_functions(self):
        threads = carom.sweep(spring, {"e": [0.2, 0.9]}, of=last, scheme="half-explicit", step=1e-2, end=5)
        processes = carom.sweep(spring, {"e": [0.2, 0.9]}, of=last, processes=True, workers=2, scheme="half-explicit", step=1e-2, end=5)
        np.testing.assert_array_equal(threads["q"], processes["q"])
        text = carom.sweep(TEXT, {"e": [0.2, 0.9]}, of=last, scheme="half-explicit", step=1e-2, end=5)
        np.testing.assert_array_equal(threads["q"], text["q"])
        whole = carom.sweep(TEXT, {"e": [0.2, 0.9]}, processes=True, workers=2, scheme="half-explicit", step=1e-2, end=5)
        np.testing.assert_array_equal([r["q"][-1] for r in whole.results], threads["q"])  # results travel, too

    def test_runs_that_fail(self):
        with self.assertRaisesRegex(carom.InputError, "restitution"):
            carom.sweep(TEXT, {"e": [0.5, 2]}, of="impacts")
        grid = carom.sweep(TEXT, {"e": [0.5, 2]}, of="impacts", errors="keep")
        self.assertEqual(grid["impacts"][0], 3)
        self.assertTrue(np.isnan(grid["impacts"][1]))
        self.assertIsInstance(grid.errors[1], carom.InputError)
        with self.assertRaisesRegex(carom.InputError, "neither in the ledger"):
            carom.sweep(TEXT, {"e": [0.5]}, of="nothing")


if __name__ == "__main__":
    unittest.main()
