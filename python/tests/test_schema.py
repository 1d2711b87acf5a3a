"""The JSON Schema of the model file: what carom reads is valid, and unknown keys are not."""
import json
import subprocess
import unittest

from common import MODELS, PROGRAM, ROOT


class Schema(unittest.TestCase):
    def setUp(self):
        try:
            import jsonschema
            import yaml
        except ImportError:
            self.skipTest("no jsonschema or yaml (Debian: python3-jsonschema, python3-yaml)")
        self.yaml, self.jsonschema = yaml, jsonschema
        text = subprocess.run([PROGRAM, "help", "--schema"], check=True, capture_output=True, text=True).stdout
        self.schema = json.loads(text)
        jsonschema.Draft202012Validator.check_schema(self.schema)
        self.validator = jsonschema.Draft202012Validator(self.schema)

    def errors(self, text):
        return list(self.validator.iter_errors(self.yaml.load(text, Loader=self.yaml.BaseLoader)))

    def test_bundled_models(self):
        models = sorted(MODELS.glob("*.yaml")) + sorted(ROOT.glob("examples/**/*.yaml"))
        self.assertGreater(len(models), 10)
        for model in models:
            found = self.errors(model.read_text())
            self.assertFalse(found, f"{model}: {found[0].message[:300] if found else ''}")

    def test_mistakes(self):
        good = "carom: 1\nbodies: {b: {mass: 1, inertia: 1, shape: {circle: 1}}}\ncontacts: {c: {gap: b.y, friction: 0.1}}\n"
        self.assertFalse(self.errors(good))
        for old, new in (("mass", "mas"), ("circle: 1", "circle: 1, colour: red"), ("contacts", "contact"), ("friction", "fricton"), ("{b: {", "{b: {b: {")):
            text = good.replace(old, new) + ("}" if new.count("{") > old.count("{") else "")
            try:
                self.assertTrue(self.errors(text), text)
            except self.yaml.YAMLError:
                pass


if __name__ == "__main__":
    unittest.main()
