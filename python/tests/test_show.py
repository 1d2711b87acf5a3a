"""Results that go elsewhere: files, pages, frames of other libraries."""
import importlib.util
import unittest

from common import TEXT, Case, carom, np

HAS = {name: importlib.util.find_spec(name) is not None for name in ("pandas", "xarray", "matplotlib")}
BALL = TEXT.replace("checks:", "draw: {ball: {circle: 0.1, at: [0, q]}}\nchecks:")


class Show(Case):
    def test_a_saved_result_is_the_result(self):
        r = carom.run(BALL)
        for name in ("saved.h5", "saved.csv"):
            with self.subTest(name):
                again = carom.open(r.save(self.folder / name) and self.folder / name)
                np.testing.assert_array_equal(again.data, r.data)
                self.assertEqual(again.columns, r.columns)
                for field in ("t", "contact", "kind", "before", "after", "impulse"):
                    np.testing.assert_array_equal(again.events[field], r.events[field])
        again = carom.open(self.folder / "saved.h5")
        self.assertEqual(again.ledger, r.ledger)
        self.assertEqual(again.info, r.info)
        self.assertEqual(again.model_text, r.model_text)
        twice = carom.open(again.save(self.folder / "twice.h5") and self.folder / "twice.h5")  # from a file as from memory
        np.testing.assert_array_equal(twice.data, r.data)
        self.assertEqual(twice.info, r.info)

    def test_names_that_cannot_be_written_are_told(self):
        r = carom.run(BALL)
        with self.assertRaisesRegex(carom.InputError, "ends neither in .h5 nor in .csv"):
            r.save(self.folder / "saved.txt")
        for name in ("saved.h5", "saved.csv"):
            with self.assertRaises(carom.FileError):
                r.save(self.folder / "nowhere" / name)

    def test_a_page(self):
        page = carom.run(BALL).view(rows=100, height=400)
        self.assertTrue(page.html.startswith("<!doctype html>"))
        shown = page._repr_html_()
        self.assertTrue(shown.startswith('<iframe srcdoc="&lt;!doctype html&gt;') and 'height="400"' in shown)
        self.assertNotIn("<script", shown)
        page.save(self.folder / "page.html")
        self.assertEqual((self.folder / "page.html").read_text(encoding="utf-8"), page.html)
        file = carom.run(BALL, out=self.folder / "run.h5").view(rows=100).html
        self.assertIn("Impacting oscillator", file)

    def test_vtk(self):
        r = carom.run(BALL)
        self.assertEqual(r.to_vtk(self.folder / "ball.pvd", rows=3), str(self.folder / "ball.pvd"))
        self.assertEqual(sorted(f.name for f in (self.folder / "ball.vtk").glob("shapes-*")), [f"shapes-0000{k}.vtu" for k in range(3)])
        with self.assertRaisesRegex(carom.FileError, "does not end in .pvd"):
            r.to_vtk(self.folder / "ball.vtu")

    @unittest.skipUnless(HAS["pandas"], "no pandas")
    def test_pandas(self):
        r = carom.run(BALL)
        frame = r.to_pandas()
        np.testing.assert_array_equal(frame["q"].to_numpy(), r["q"])
        np.testing.assert_array_equal(frame.index.to_numpy(), r.t)
        self.assertEqual(frame.attrs["scheme"], "moreau-midpoint")

    @unittest.skipUnless(HAS["xarray"], "no xarray")
    def test_xarray(self):
        r = carom.run(BALL)
        self.assertAlmostEqual(float(r.to_xarray()["q"].sel(t=r.t[5]).item()), r["q"][5], 15)


if __name__ == "__main__":
    unittest.main()
