"""`pip install ./python` gives a package that works."""
import importlib.util
import os
import shutil
import subprocess
import sys
import unittest

from common import ROOT, Case, carom

HAVE = all(importlib.util.find_spec(name) for name in ("pip", "setuptools"))


class Install(Case):
    @unittest.skipUnless(HAVE, "no pip and setuptools")
    def test_pip_installs_it(self):
        source, target = self.folder / "python", self.folder / "site"
        shutil.copytree(ROOT / "python", source, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--target", str(target), str(source)],
                       check=True, capture_output=True)
        words = "import carom; print(carom.__file__); print(carom.run('carom: 1\\ncoordinates: {q: 1}\\nenergy: {kinetic: \"1/2*q\\'^2\"}\\n', step=0.1, end=1)['q'][-1])"
        environment = {**os.environ, "PYTHONPATH": str(target), "CAROM_LIBRARY": os.path.abspath(carom.library_path())}
        said = subprocess.run([sys.executable, "-c", words], cwd=self.folder, env=environment, check=True, capture_output=True, text=True).stdout.split()
        self.assertEqual(said, [str(target / "carom" / "__init__.py"), "1.0"])

    def test_a_missing_library_is_told(self):
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "CAROM_LIBRARY": "/nowhere/libcarom.so"}
        done = subprocess.run([sys.executable, "-c", "import carom"], env=environment, capture_output=True, text=True)
        self.assertIn("set CAROM_LIBRARY to libcarom.so", done.stderr)


if __name__ == "__main__":
    unittest.main()
