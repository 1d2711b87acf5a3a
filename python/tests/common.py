"""What the tests share.  CAROM_LIBRARY, CAROM_PROGRAM and CAROM_CC are set by ctest; by hand, a build in ../../build is taken."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
PROGRAM = os.environ.get("CAROM_PROGRAM", str(ROOT / "build" / "carom"))
MODELS = ROOT / "models"

import carom  # noqa: E402
import numpy as np  # noqa: E402,F401

# A mass on a spring that hits a stop: q'' = -q, q >= 0.
TEXT = """carom: 1
name: Impacting oscillator
parameters: {e: 0.5, k: 1}
coordinates: {q: {at: 1}}
energy: {kinetic: "1/2*q'^2", potential: 1/2*k*q^2}
contacts: {stop: {gap: q, restitution: e}}
checks: [impacts == 3]
simulation: {scheme: moreau-midpoint, step: 1e-3, end: 10}
"""


def oscillator(**more):
    """The same by functions."""
    given = dict(mass=[[1]], force=lambda t, q, v: -q, potential=lambda t, q: q[0] ** 2 / 2,
                 contacts={"stop": {"restitution": 0.5}}, gaps=lambda t, q: q, directions=lambda t, q: [[1.0]])
    given.update(more)
    return carom.System({"q": 1}, **given)


def program(*words):
    return subprocess.run([PROGRAM, *map(str, words)], check=True, capture_output=True, text=True).stdout


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def same(self, a, b):
        """The same columns, rows and events, to the last bit."""
        self.assertEqual(a.columns, b.columns)
        self.assertEqual(a.data.shape, b.data.shape)
        self.assertEqual(a.data.tobytes(), b.data.tobytes())
        self.assertEqual(a.events.tobytes(), b.events.tobytes())
