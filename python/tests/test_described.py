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


class Described(unittest.TestCase):
    def test_xarray(self):
        for engine, module in (("netcdf4", "netCDF4"), ("h5netcdf", "h5netcdf")):
            if subprocess.run([sys.executable, "-c", f"import xarray, {module}"], capture_output=True).returncode:
                self.skipTest(f"no xarray with {module} (Debian: python3-xarray, python3-{module.lower()})")
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
