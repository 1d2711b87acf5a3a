"""Results that other programs open: xarray, by both of its engines."""
import os
import subprocess
import sys
import tempfile
import unittest

from common import PROGRAM

MODEL = """carom: 1
parameters: {k: 3 N/m}
coordinates: {x: {at: 5 mm, rate: 1 m/s}}
energy: {kinetic: 1/2*x'^2, potential: k/2*x^2}
contacts: {wall: {gap: 0.3 - x}}
simulation: {scheme: moreau-jean, step: 1e-3, end: 2}
"""

# In a process of its own: the libraries behind the engines do not go together in one.
SCRIPT = """
import sys, xarray
d = xarray.open_dataset(sys.argv[1], engine=sys.argv[2])
assert d["data"].dims == ("t", "column"), d["data"].dims
x = d["data"].sel(column="x")
assert abs(float(x[0]) - 5e-3) < 1e-15 and float(d.t[-1]) == 2.0
assert d.t.attrs["units"] == "s" and list(d.unit.values[:3]) == ["s", "m", "m/s"], d.unit.values
text = d.model.values.item()
assert (text.decode() if isinstance(text, bytes) else text) == open(sys.argv[3], encoding="utf-8").read(), text
assert d.attrs["format"] == "carom result" and d.attrs["format_version"] == 1
"""

# The tables of a sweep, whole or merged from parts: variables with names, units and one dimension.
TABLES = """
import sys, xarray
file, engine = sys.argv[1:]
xarray.open_dataset(file, engine=engine)
d = xarray.open_dataset(file, engine=engine, group="columns/runs")
assert set(d.data_vars) == {"run", "k", "option.at", "status", "message", "x", "max(x')", "k:2"}, list(d.data_vars)
assert all(d[v].dims == ("runs_row",) for v in d.data_vars), d
assert {v: d[v].attrs.get("units") for v in ("k", "x", "max(x')", "k:2", "run")} == {
    "k": "N/m", "x": "m", "max(x')": "m/s", "k:2": None, "run": None}, d
assert d["k:2"].attrs["long_name"] == "k/2" and list(d["k:2"].values) == [0.5, 0.5, 1, 1]
assert list(d.run.values) == [0, 1, 2, 3] and list(d.k.values) == [1, 1, 2, 2]
assert list(d["option.at"].values) == ["theta", "start"] * 2, d["option.at"].values
assert list(d.message.values) == [""] * 4 and abs(float(d["max(x')"][0]) - 1) < 1e-6
s = xarray.open_dataset(file, engine=engine, group="columns/section")
assert s.t.attrs["units"] == "s" and s.x.attrs["units"] == "m" and s.x.dims == ("section_row",) and len(s.x) >= 4, s
"""

SWEEP = ["--vary", "k=1,2", "--vary", "option.at=theta,start", "--section", "impact wall", "--observe", "x",
         "--observe", "max(x')", "--observe", "k/2", "-q"]

ENGINES = (("netcdf4", "netCDF4"), ("h5netcdf", "h5netcdf"))


def need(test, module):
    if subprocess.run([sys.executable, "-c", f"import xarray, {module}"], capture_output=True).returncode:
        test.skipTest(f"no xarray with {module} (Debian: python3-xarray, python3-{module.lower()})")


class Described(unittest.TestCase):
    def test_sweep(self):
        with tempfile.TemporaryDirectory() as folder:
            model, whole, merged = (os.path.join(folder, n) for n in ("m.yaml", "whole.h5", "merged.h5"))
            parts = [os.path.join(folder, f"part{i}.h5") for i in (1, 2)]
            with open(model, "w") as f:
                f.write(MODEL)
            subprocess.run([PROGRAM, "sweep", model, *SWEEP, "--out", whole], check=True)
            for i in (1, 2):
                subprocess.run([PROGRAM, "sweep", model, *SWEEP, "--part", f"{i}/2", "--out", parts[i - 1]], check=True)
            subprocess.run([PROGRAM, "merge", *parts, "-o", merged], check=True, stdout=subprocess.DEVNULL)
            for engine, module in ENGINES:
                need(self, module)
                for result in (whole, merged):
                    r = subprocess.run([sys.executable, "-c", TABLES, result, engine], capture_output=True, text=True)
                    self.assertEqual(r.returncode, 0, r.stderr)

    def test_xarray(self):
        for engine, module in ENGINES:
            need(self, module)
            for more in ([], ["--compress"]):
                with tempfile.TemporaryDirectory() as folder:
                    model, result = os.path.join(folder, "m.yaml"), os.path.join(folder, "m.h5")
                    with open(model, "w") as f:
                        f.write(MODEL)
                    subprocess.run([PROGRAM, "run", model, "--out", result, "-q", *more], check=True)
                    r = subprocess.run([sys.executable, "-c", SCRIPT, result, engine, model], capture_output=True, text=True)
                    self.assertEqual(r.returncode, 0, r.stderr)


if __name__ == "__main__":
    unittest.main()
