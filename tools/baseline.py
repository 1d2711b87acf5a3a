#!/usr/bin/env python3
"""End states, ledgers and instruction counts of the bundled models, each with its own scheme, against stored ones.

usage: tools/baseline.py write CAROM [PATTERN] >tools/baseline-MACHINE.txt
       tools/baseline.py compare FILE CAROM [PATTERN]

`write` runs every model to its end and prints five lines per model: checksum of the model file and its scheme, the number of columns, the last
row (the first numbers of it, the sum of all magnitudes, a checksum of all rows), the ledger without times, instructions of the first
100 steps with the start, and per step after them.  `compare` runs the models of FILE again and prints one line per model: "bit-identical" if all rows are, else the
largest relative difference of the last row; the ledger entries that differ by more than 1e-9, and the ratios of instructions, new over stored.

FILE begins with the commit, compiler and machine that it belongs to.  `compare` rejects a model whose file has changed
since then (exit status 1), prints how many commits have changed the sources since, and warns about another machine or
compiler.  Instructions need valgrind; without it, or with INSTRUCTIONS=no, they are left out.
"""
import csv, fnmatch, glob, hashlib, json, math, os, platform, re, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODELS = os.path.join(HERE, "models")
NUMBERS = 24  # of the last row
FEW, MANY = 100, 400  # steps: the difference is free of start-up
TIMES = {"seconds", "ns_per_step", "wall", "model", "name", "result", "version", "checks", "warnings", "status"}


def flat(x, name=""):
    """Numbers and texts of a ledger by dotted name, but zeros and what is of rounding."""
    if isinstance(x, dict):
        for k, v in x.items():
            if name or k not in TIMES:
                yield from flat(v, name + "." + k if name else k)
    elif isinstance(x, bool) or x is None or isinstance(x, list):
        return
    elif x != 0 and "residual" not in name and not name.startswith("drift_"):
        yield name, format(x, ".12g") if isinstance(x, float) else str(x).replace(" ", "_")


def run(carom, model, work, *more):
    out = os.path.join(work, "rows.csv")
    for f in glob.glob(out + "*"):
        os.remove(f)
    p = subprocess.run([carom, "run", model, "--out", out, "--compile", "off", "--json", *more], capture_output=True, text=True, timeout=600)
    if p.returncode not in (0, 3):  # 3: checks of the whole run fail in a short one
        raise RuntimeError(p.stderr.strip() or p.stdout.strip())
    return json.loads(p.stdout), out


def count(carom, model, work, end):
    out = os.path.join(work, "rows.csv")
    p = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", carom, "run", model, "--end", format(end, ".17g"), "--every", "1000000",
                        "--out", out, "--force", "--quiet", "--compile", "off"], capture_output=True, text=True, timeout=600)
    found = re.search(r"I +refs: +([\d,]+)", p.stderr)
    return int(found.group(1).replace(",", "")) if found and p.returncode in (0, 3) else None


def measure(carom, model, work):
    """The lines of one model, as a dict of lists of words."""
    ledger, rows = run(carom, model, work)
    with open(rows, "rb") as f:
        bits = hashlib.sha256(f.read()).hexdigest()[:16]
    with open(rows) as f:
        last = [float(x) for x in list(csv.reader(f))[-1]]
    with open(model, "rb") as f:
        sha = hashlib.sha256(f.read()).hexdigest()[:16]
    got = {"model": [sha, ledger["scheme"]],
           "columns": [str(len(last))],
           "end": [format(x, ".13g") for x in last[:NUMBERS]] + ["sum", format(math.fsum(abs(x) for x in last if math.isfinite(x)), ".13g"), "bits", bits],
           "ledger": [k + "=" + v for k, v in flat(ledger)]}
    if shutil.which("valgrind") and os.environ.get("INSTRUCTIONS") != "no":
        many = min(MANY, ledger["steps"])
        few = min(FEW, many // 2)
        a, b = (count(carom, model, work, n * ledger["step"]) for n in (few, many))
        if a and b:
            each = (b - a) / (many - few)
            got["instructions"] = ["start", str(a), "step", format(each, ".0f")]
    return got


def models(pattern):
    return [f for f in sorted(glob.glob(os.path.join(MODELS, "*.yaml"))) if fnmatch.fnmatch(os.path.basename(f)[:-5], pattern)]


def git(*words):
    p = subprocess.run(["git", "-C", HERE, *words], capture_output=True, text=True)
    return p.stdout.strip() if p.returncode == 0 else ""


def compiler():
    try:
        return subprocess.run([os.environ.get("CC", "cc"), "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return "unknown"


def write(carom, pattern):
    changed = " with changes" if git("status", "--porcelain", "--", "src", "include", "models") else ""
    print("# Baseline of the bundled models: tools/baseline.py write; compare with: tools/baseline.py compare FILE CAROM")
    print("commit", git("rev-parse", "HEAD") + changed)
    print("machine", platform.machine())
    print("compiler", compiler())
    with tempfile.TemporaryDirectory() as work:
        for model in models(pattern):
            name = os.path.basename(model)[:-5]
            for kind, words in measure(carom, model, work).items():
                print(name, kind, *words, flush=True)


def difference(a, b, all_columns):
    """Largest difference of two rows over the largest number of either; of their sums only where the rows have the same columns."""
    pairs = [(float(x), float(y)) for x, y in zip(a[:-2], b[:-2]) if x != "sum"]
    if not all_columns:
        pairs = pairs[:NUMBERS]
    size = max([abs(x) for pair in pairs for x in pair if math.isfinite(x)] + [1e-300])
    return max((abs(x - y) for x, y in pairs if x != y and not (math.isnan(x) and math.isnan(y))), default=0) / size


def unlike(a, b):
    """Ledger entries that differ."""
    old, new = (dict(w.split("=", 1) for w in words) for words in (a, b))
    for k in sorted(old.keys() | new.keys()):
        x, y = old.get(k, "0"), new.get(k, "0")
        try:
            same = x == y or abs(float(x) - float(y)) <= 1e-9 * max(abs(float(x)), abs(float(y))) + 1e-12
        except ValueError:
            same = False
        if not same:
            yield f"{k} {x} -> {y}"


def compare(file, carom, pattern):
    head, stored, bad = {}, {}, 0
    with open(file) as f:
        for line in f:
            w = line.split()
            if line.startswith("#") or not w:
                continue
            if w[0] in ("commit", "machine", "compiler"):
                head[w[0]] = " ".join(w[1:])
            else:
                stored.setdefault(w[0], {})[w[1]] = w[2:]
    commit = head["commit"].split()[0]
    since = git("rev-list", "--count", commit + "..HEAD", "--", "src", "include")
    print(f"baseline of commit {head['commit'][:12]}, " + (f"{since} commits with changed sources since" if since else "which is not in this repository"))
    for what, here in (("machine", platform.machine()), ("compiler", compiler())):
        if head[what] != here:
            print(f"warning: the baseline was written with another {what}, '{head[what]}'; here: '{here}'")
    with tempfile.TemporaryDirectory() as work:
        for model in models(pattern):
            name = os.path.basename(model)[:-5]
            old = stored.pop(name, None)
            if not old:
                print(f"{name}: missing in the baseline; renew it with tools/baseline.py write")
                bad += 1
                continue
            new = measure(carom, model, work)
            if old["model"] != new["model"]:
                print(f"{name}: expected model {' '.join(old['model'])}, got {' '.join(new['model'])}; renew the baseline with tools/baseline.py write")
                bad += 1
                continue
            same = "columns" in old and old["columns"] == new["columns"]
            text = f"{name}: " + ("bit-identical" if old["end"] == new["end"] else f"end {difference(old['end'], new['end'], same):.1e}")
            if not same:
                text += f", of {NUMBERS} columns: others than when it was stored"
            if "instructions" in old and "instructions" in new:
                a, b = old["instructions"], new["instructions"]
                text += "".join(f", {a[i]} {float(b[i + 1]) / float(a[i + 1]):.4f}" for i in (0, 2))
            print("; ".join([text] + list(unlike(old["ledger"], new["ledger"]))), flush=True)
    for name in stored:
        if fnmatch.fnmatch(name, pattern):
            print(f"{name}: in the baseline, but no bundled model any more; renew it with tools/baseline.py write")
            bad += 1
    return 1 if bad else 0


def main(args):
    if len(args) in (2, 3) and args[0] == "write":
        return write(args[1], args[2] if len(args) == 3 else "*")
    if len(args) in (3, 4) and args[0] == "compare":
        return compare(args[1], args[2], args[3] if len(args) == 4 else "*")
    print(__doc__.strip(), file=sys.stderr)
    return 2


sys.exit(main(sys.argv[1:]))
