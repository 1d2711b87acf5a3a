#!/usr/bin/env python3
"""Plants faults in a copy of the sources, one at a time, and runs the quick tests that link what was changed.

    tools/mutate.py BUILD [--faults N] [--seed S] [--jobs J] [--keep FILE] FOLDER...

Faults by rule: a sign, a comparison that is turned round (between real numbers `<` and `<=` are the same), a constant, a dropped call or assignment, a
logical operator.  A fault is killed when the copy does not build (not
counted), or when a test fails or takes ten times its time.  The tests of a folder run in the order of the list below, quickest and sharpest first, and
the first failure ends it.  Printed: survivors, and the rate by folder.  The same seed plants the same faults."""
import argparse, collections, hashlib, json, os, random, re, shutil, subprocess, sys, time

# Quick tests by folder of src/: what fails most readily for it comes first.
TESTS = {
    "base": "test_arena test_option test_locale test_parse",
    "linalg": "test_matrix test_factor test_columns test_sparse test_dense",
    "expr": "test_graph test_parse test_tape test_ring",
    "system": "test_system test_difference test_redundant",
    "flex": "test_flex test_shaft test_structure test_flexible test_matrices",
    "contact": "test_residual test_chain conformance_solver test_words test_sim test_columns",
    "solver": "conformance_solver test_chain test_hybrid test_residual test_piles fuzz_problem test_survivors conformance_scheme",
    "scheme": "conformance_scheme references conformance_friction test_words test_sim test_half_explicit test_newmark test_ggl test_dg test_dg_weights "
              "test_friction_laws test_brakes test_mixed test_splitting test_auto test_identity test_newton test_rest test_closed_approach conformance_order test_event_nasty test_mixed_nasty "
              "test_tunnel test_hidden_state test_levels test_nasty test_thresholds test_books test_rolling test_difference",
    "sim": "test_sim test_brakes test_adaptive test_warnings conformance_run test_books test_survivors conformance_scheme test_result test_tolerances test_redundant test_hidden_state test_rows",
    "event": "test_event test_event_nasty test_event_bodies references_events test_nasty test_tunnel test_thresholds test_heap_sparse",
    "io": "test_result test_storage test_survivors test_hostile test_solve test_locale test_rows test_matrices fuzz_result test_cli",
    "sweep": "test_sweep test_sweeps",
    "study": "test_norm test_hausdorff test_trajectory test_compare test_tolerances",
    "read": "test_model_errors test_model_input test_keys test_mech",
    "mech": "test_mech test_keys test_build",
}
PROGRAM = "test_cli test_solve test_tolerances test_compare torture".split()  # these start the program


def faults_of(path, text):
    """All (offset, length, replacement, rule) of a source."""
    found = []
    code = re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^\s*#[^\n]*', lambda m: " " * len(m.group()), text, flags=re.M)
    def add(m, new, rule, group=0):
        found.append((m.start(group), m.end(group) - m.start(group), new, rule))
    depth = [0]
    for ch in code:
        depth.append(depth[-1] + (ch == "{") - (ch == "}"))
    body = lambda m: depth[m.start()] > 0
    for m in re.finditer(r"(?<=[\w\)\]]) ([+-]) (?=[\w\(])", code):
        if body(m): add(m, "-" if m.group(1) == "+" else "+", "sign", 1)
    for m in re.finditer(r"([+-])= ", code):
        if body(m): add(m, "-" if m.group(1) == "+" else "+", "sign", 1)
    for m in re.finditer(r" (<=|>=|<|>|==|!=) (?=[\w\(\-])", code):
        if body(m): add(m, {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}[m.group(1)], "comparison", 1)
    for m in re.finditer(r" (&&|\|\|) ", code):
        if body(m): add(m, "||" if m.group(1) == "&&" else "&&", "logic", 1)
    for m in re.finditer(r"(?<![\w.])(\d+\.\d+(?:e-?\d+)?|\d+e-?\d+|[2-9])(?![\w.\]])", code):
        x = m.group(1)
        add(m, "(%s * 1.5)" % x if re.search(r"[.e]", x) else str(int(x) + 1), "constant", 1)
    for m in re.finditer(r"(?<=\n)( +)((?:CAROM_TRY\()?(?:carom_)?\w+\([^;{}\n]*\)\)?;)(?=\n)", code):
        if body(m) and not re.match(r"return|if|for|while|switch|PROMISE|va_|free\(|assert|H5\w+close", m.group(2)): add(m, ";", "dropped call", 2)
    for m in re.finditer(r"(?<=\n)( +)([\w\->.\[\]\*]+ [-+*/]?= [^;{}\n]*;)(?=\n)", code):
        if body(m): add(m, ";", "dropped assignment", 2)
    return found


def run(command, limit, cwd=None, env=None):
    try:
        return subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit)
    except subprocess.TimeoutExpired:
        return None


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("build")
    ap.add_argument("--faults", type=int, default=120)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--skip", type=int, default=0, help="the first faults of the seed: to go on")
    ap.add_argument("--jobs", default="2")
    ap.add_argument("--minutes", type=float, default=1e9, help="stop after so many")
    ap.add_argument("--keep", help="append one line per fault to this file")
    ap.add_argument("folders", nargs="+")
    a = ap.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    copy = os.path.join(os.path.abspath(a.build), "mutate")
    begun = time.time()
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, stdout=subprocess.PIPE, text=True).stdout.split()
    for f in files:
        to = os.path.join(copy, "source", f)
        if os.path.isfile(os.path.join(root, f)) and (not os.path.exists(to) or open(to, "rb").read() != open(os.path.join(root, f), "rb").read()):
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy2(os.path.join(root, f), to)
    source, build = os.path.join(copy, "source"), os.path.join(copy, "build")
    if not os.path.exists(os.path.join(build, "CMakeCache.txt")):
        subprocess.check_call(["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O1",
                               "-DCMAKE_C_COMPILER_LAUNCHER=" + (shutil.which("ccache") or "")], stdout=subprocess.DEVNULL)
    for folder in a.folders:
        if folder not in TESTS: sys.exit("no tests are listed for %s; known are %s" % (folder, " ".join(TESTS)))
    wanted = sorted({t for f in a.folders for t in TESTS[f].split()})
    if run(["ninja", "-C", build, "-j", a.jobs, "carom_cli"] + wanted, 3000).returncode != 0: sys.exit("the copy does not build")
    env = dict(os.environ, TMPDIR=copy, XDG_CACHE_HOME=os.path.join(copy, "cache"))
    # Each test passes without a fault, and so long it takes; known from the last time if nothing has changed.
    digest = hashlib.sha256(b"".join(open(os.path.join(root, f), "rb").read() for f in sorted(files) if re.match(r"(src|include|test|models)/", f))).hexdigest()
    known = os.path.join(copy, "seconds.json")
    seconds = json.load(open(known)) if os.path.exists(known) else {}
    if seconds.get("digest") != digest: seconds = {"digest": digest}
    for t in wanted:
        if t in seconds: continue
        start = time.time()
        r = run(command_of(build, source, t), 120, build, env)
        seconds[t] = time.time() - start if r is not None and r.returncode in (0, 77) else None
        json.dump(seconds, open(known, "w"))
    for t in wanted:
        if seconds[t] is None: print("%s fails without a fault and is left out" % t, flush=True)
    rng = random.Random(a.seed)
    all_faults = {}
    for folder in a.folders:
        for f in sorted(files):
            if f.startswith("src/%s/" % folder) and f.endswith(".c"):
                for x in faults_of(f, open(os.path.join(root, f)).read()): all_faults.setdefault(folder, []).append((f,) + x)
    tally, survivors, done = collections.Counter(), [], 0
    begun = time.time()
    for n in range(a.faults):
        folder = a.folders[n % len(a.folders)]
        f, at, length, new, rule = rng.choice(all_faults[folder])
        if n < a.skip: continue
        if time.time() - begun > 60 * a.minutes: break
        text = open(os.path.join(root, f)).read()
        line = text.count("\n", 0, at) + 1
        what = "%s:%d: %s: `%s` -> `%s`: %s" % (f, line, rule, text[at:at + length], new, text.split("\n")[line - 1].strip()[:110])
        with open(os.path.join(source, f), "w") as o: o.write(text[:at] + new + text[at + length:])
        fate = judge(build, source, [t for t in TESTS[folder].split() if seconds[t] is not None], seconds, a.jobs, env)
        with open(os.path.join(source, f), "w") as o: o.write(text)
        done += 1
        tally[folder, "unbuilt" if fate == "does not build" else "killed" if fate else "survived"] += 1
        if not fate: survivors.append(what)
        report = "%3d %-22s %s" % (n, fate or "SURVIVED", what)
        print(report, flush=True)
        if a.keep:
            with open(a.keep, "a") as o: o.write(report + "\n")
    run(["ninja", "-C", build, "-j", a.jobs], 3000)
    print("\nsurvivors:" if survivors else "\nno survivors")
    for s in survivors: print("  " + s)
    killed = sum(v for (f, k), v in tally.items() if k == "killed")
    lived = len(survivors)
    for folder in a.folders:
        k, s = tally[folder, "killed"], tally[folder, "survived"]
        if k + s: print("%-10s %3d of %3d killed, %.0f %%" % (folder, k, k + s, 100 * k / (k + s)))
    if killed + lived: print("%-10s %3d of %3d killed, %.0f %% (%d did not build), %.0f s" % ("all", killed, killed + lived, 100 * killed / (killed + lived), done - killed - lived, time.time() - begun))


def command_of(build, source, test):
    program = [os.path.join(build, "test", test)]
    if test.startswith("fuzz_"): program += [os.path.join(source, "test/fuzz/corpus", test[5:]), "200"]
    return program


def judge(build, source, tests, seconds, jobs, env):
    """Why the fault is noticed; None: it is not."""
    for t in tests:
        targets = [t] + (["carom_cli"] if t in PROGRAM else [])
        r = run(["ninja", "-C", build, "-j", jobs] + targets, 600)
        if r is None or r.returncode != 0: return "does not build"
        r = run(command_of(build, source, t), 10 * seconds[t] + 5, build, env)
        if r is None: return t + " (time)"
        if r.returncode not in (0, 77): return t
    return None


main()
