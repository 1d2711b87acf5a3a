#!/usr/bin/env python3
"""The JSON Schema of model files (carom help --schema), which editors use: all bundled models are valid, and typos are
rejected: every key of every section misspelt in turn, and some mistakes by hand.  With python3-yaml; python3-jsonschema,
where it is installed, must agree with the few keywords that are evaluated here.

schema.py SCHEMA DIRECTORY..."""
import copy, glob, json, sys

import yaml

try:
    import jsonschema
except ImportError:
    jsonschema = None

KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float), "integer": int}
ONLY_WORDS = {"$schema", "$id", "$defs", "title", "description", "default", "type", "anyOf", "allOf", "$ref", "enum",
              "const", "properties", "additionalProperties", "required", "items", "minItems", "maxItems"}


def is_kind(x, kind):
    if isinstance(x, bool) and kind != "boolean":
        return False
    return x is None if kind == "null" else isinstance(x, KINDS[kind])


def valid(x, s, root):
    if isinstance(s, bool):
        return s
    unknown = set(s) - ONLY_WORDS
    assert not unknown, f"keywords that are not evaluated here: {unknown}"
    if "$ref" in s:
        target = root
        for part in s["$ref"].lstrip("#/").split("/"):
            target = target[part]
        if not valid(x, target, root):
            return False
    kinds = s.get("type", [])
    if kinds and not any(is_kind(x, k) for k in ([kinds] if isinstance(kinds, str) else kinds)):
        return False
    if "enum" in s and x not in s["enum"] or "const" in s and x != s["const"]:
        return False
    if "anyOf" in s and not any(valid(x, o, root) for o in s["anyOf"]):
        return False
    if not all(valid(x, o, root) for o in s.get("allOf", [])):
        return False
    if isinstance(x, dict):
        own = s.get("properties", {})
        rest = s.get("additionalProperties", True)
        if any(k not in x for k in s.get("required", [])):
            return False
        return all(valid(v, own.get(k, rest), root) for k, v in x.items())
    if isinstance(x, list):
        return s.get("minItems", 0) <= len(x) <= s.get("maxItems", len(x)) and all(
            valid(v, s.get("items", True), root) for v in x)
    return True


def main():
    root = json.load(open(sys.argv[1]))
    other = None
    if jsonschema:
        kind = jsonschema.validators.validator_for(root)
        kind.check_schema(root)
        other = kind(root)

    def accepts(x):
        own = valid(x, root, root)
        if other and other.is_valid(x) != own:
            sys.exit(f"jsonschema and this program disagree about {x}")
        return own

    files = sorted(f for d in sys.argv[2:] for f in glob.glob(d + "/**/*.yaml", recursive=True))
    models = {f: yaml.safe_load(open(f)) for f in files}
    models = {f: d for f, d in models.items() if isinstance(d, dict) and "carom" in d}
    wrong = [f for f, d in models.items() if not accepts(d)]
    typos, missed = 0, []
    for f, d in models.items():
        places = [()] + [(s,) for s in ("simulation", "energy", "contact defaults") if isinstance(d.get(s), dict)]
        places += [(s, n) for s in ("bodies", "joints", "contacts", "springs", "motors", "loads", "ropes", "states",
                                 "constraints")
                   for n, x in (d.get(s) or {}).items() if isinstance(x, dict)]
        for place in places:
            inside = d
            for k in place:
                inside = inside[k]
            for key in inside:
                bad = copy.deepcopy(d)
                x = bad
                for k in place:
                    x = x[k]
                x[key + "x"] = x.pop(key)
                typos += 1
                if accepts(bad):
                    missed.append((f, *place, key))
    by_hand = ["carom: 1\nbodies: 3", "carom: 1\nbody: {b: {mass: 1}}", "carom: 1\nbodies: {b: {mas: 1}}", "bodies: {}",
               "carom: 1\njoints: {j: {typ: revolute, between: [a, b]}}", "carom: 1\ncontacts: [1, 2]",
               "carom: 1\nsimulation: {shceme: auto}", "carom: 1\nsimulation: [auto]",
               "carom: 1\ncontacts: {c: {gap: x, restituion: 0.5}}", "carom: 1\nconstraints: {c: {rte: x}}",
               "carom: 1\nstates: {i: {rate: 1, speed: 2}}",
               "carom: 1\nbodies: {b: {mass: 1, inertia: 1, shape: {circel: 1}}}", "- carom: 1"]
    missed += [t for t in by_hand if accepts(yaml.safe_load(t))]
    print(f"{len(models)} models, {len(wrong)} rejected; {typos + len(by_hand)} typos, {len(missed)} accepted; "
          f"jsonschema {'agrees' if other else 'is not installed'}")
    for x in wrong[:10] + missed[:10]:
        print("  ", x)
    sys.exit(bool(wrong or missed or len(models) < 40 or typos < 1000))


main()
