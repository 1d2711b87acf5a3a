#!/usr/bin/env python3
"""Plants faults in a copy of the sources, one at a time, and runs the quick tests that reach them.

    tools/mutate.py BUILD [--faults N] [--seed S] [--minutes M] [--seconds T] [--sharp | --tests NAMES] FOLDER...

Faults by rule: a sign; `*` for `/` and the other way round; a comparison turned round (between real numbers `<` and `<=` are the same); `&&` for `||`; a constant
(integers plus one, reals times 1.5, thresholds such as 1e-12 times 1000); another index of an array; a loop that ends one too early; a factor, a call or an
assignment left out.  Not planted, because no result can depend on it or because another
kind of test looks for it: sizes of allocations, releases of memory, pages and handles (the leak sanitizer), assertions, texts and arguments of messages, what
a scheme promises (tests alone read it).
A fault that gives an equivalent program is listed in tools/mutate-equivalent.txt, with the reason; where it survives it is counted apart, and the rate is
given with and without.

The copy is built once with gcc's coverage.  Each test of the default suite (no label `long`) runs once, must pass, and tells which lines it executes.  A fault is
judged by the tests that execute its line, those that found most for their time first, until one fails or takes more than five times its time (killed),
or until all have passed or T seconds of tests (120) are spent and those that take no time have passed, too (survived).  A fault that does not build is not counted.

The same seed plants the same faults in the same sources.  Results are kept in BUILD/mutate/results.jsonl: a campaign that was interrupted goes on, and
survivors are judged again after a test has changed, or with more seconds."""
import argparse, collections, fcntl, hashlib, json, os, random, re, resource, shutil, subprocess, sys, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MESSAGE = r"\b(carom_fail\w*|carom_retry\w*|carom_format|snprintf|fprintf|printf|fputs|assert)\("
RELEASE = r"free|\w+_free|\w*close\w*|\w*destroy|\w*release|va_end|H5E\w*|carom_(chain_)?forget|carom_sim_trim"
ALLOCATION = r"\b(malloc|calloc|realloc|\w*carve\w*|\w*allocate\w*|\w*arena\w*|\w*grow\w*)\(|\broom\b"
# The programs that have found most.  With these alone (--sharp), 15 s of tests for a fault and nothing left out (--longest 30), a campaign of 100 takes about 20 minutes on two cores.
SHARP = "conformance_\\w+|docs_reference_\\w+|test_(%s)" % "|".join((
    "accumulate adaptive auto bodies books brakes certificate chain changes clearance clock closed_approach columns dense difference dg dg_orders dg_weights event event_bodies "
    "event_nasty every_scheme failed_step families fclib figures_\\d flex friction_laws functions ggl growth half_explicit hard hausdorff heap heap_sparse hostile hybrid "
    "identity impact_laws jacobians joints jumps large layout ledger_text levels listed_laws locale logs many margin materials matrices measures misfit mixed "
    "mixed_nasty nasty newmark newton norm numbering parts printed redundant refused residual rest result ring rolling rows scales set shaft signals sim "
    "snapshots soft_contacts solve sparse splitting steps storage survivors sweep system table tables team thresholds tolerances trajectory tunnel "
    "variation warning_limits warnings worlds "
).split())

Fault = collections.namedtuple("Fault", "file line at length new rule name")


def faults_of(path, text):
    code = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^\s*#[^\n]*', lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.M | re.S)
    depth, found, lines = [0], [], text.split("\n")
    for ch in code: depth.append(depth[-1] + (ch == "{") - (ch == "}"))
    starts = [0]
    for l in lines: starts.append(starts[-1] + len(l) + 1)

    def add(m, group, new, rule):
        at, end = m.start(group), m.end(group)
        n = code.count("\n", 0, at)
        whole, statement = code[starts[n]:starts[n + 1]], max(code.rfind(c, 0, at) for c in ";{}")
        before = code[statement + 1:at]
        if depth[at] == 0 and rule != "constant": return
        if re.search(MESSAGE, before) and before.count("(") > before.count(")"): return
        if re.search(ALLOCATION, whole) and rule in ("constant", "sign", "operator", "factor", "index"): return
        if ".promises = " in whole: return
        source = lines[n].strip()
        name = "%s: %s @%d `%s` -> `%s`: %s" % (path, rule, at - starts[n] - (len(lines[n]) - len(lines[n].lstrip())), text[at:end], new, source)
        found.append(Fault(path, n + 1, at, end - at, new, rule, name))

    for m in re.finditer(r"(?<=[\w\)\]]) ([+-]) (?=[\w\(])|(?<= )([+-])(?==\s)", code):
        g = 1 if m.group(1) else 2
        add(m, g, "-" if m.group(g) == "+" else "+", "sign")
    for m in re.finditer(r"(?<=[\w\)\]]) ([*/]) (?=[\w\(])", code): add(m, 1, "/" if m.group(1) == "*" else "*", "operator")
    for m in re.finditer(r"(?<=[\w\)\]])( \* [\w.\[\]]+(?:->[\w.\[\]]+)*)(?=[;,\)]| [-+] )", code): add(m, 1, "", "factor")
    for m in re.finditer(r"(?<=\w)\[([0-2])\](?! = \{)", code): add(m, 1, {"0": "1", "1": "0", "2": "1"}[m.group(1)], "index")
    for m in re.finditer(r"\bfor \([^;\n]*; \w+ < ([^;&|\n]+);", code): add(m, 1, m.group(1) + " - 1", "end of a loop")
    turned = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
    for m in re.finditer(r" (<=|>=|<|>|==|!=) (?=[\w\(\-'\"*&!])", code): add(m, 1, turned[m.group(1)], "comparison")
    for m in re.finditer(r" (&&|\|\|)(?=\s)", code): add(m, 1, "||" if m.group(1) == "&&" else "&&", "logic")
    for m in re.finditer(r"(?<![\w.])(\d+\.\d+(?:e-?\d+)?|\d+e-?\d+|[2-9])(?![\w.\]])", code):
        x = m.group(1)
        add(m, 1, "(%s * 1000)" % x if re.search(r"e-\d", x) else "(%s * 1.5)" % x if re.search(r"[.e]", x) else str(int(x) + 1), "constant")
    for m in re.finditer(r"(?<=\n) +((?:CAROM_TRY\()?\w+\([^;{}\n]*\)\)?;)(?=\n)", code):
        if not re.match(r"(return|if|for|while|switch|PROMISE|va_\w+|assert|%s)\b" % RELEASE, m.group(1)): add(m, 1, ";", "dropped call")
    for m in re.finditer(r"(?<=\n) +([\w\->.\[\]\*]+ [-+*/]?= [^;{}\n]*;)(?=\n)", code): add(m, 1, ";", "dropped assignment")
    return found


def short(text): return hashlib.sha256(text).hexdigest()[:16]


def run(command, cwd, env, cpu=None, wall=None):
    """The exit status; None after `cpu` seconds of computing or `wall` seconds."""
    def limit():
        os.setsid()
        if cpu: resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    p = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limit)
    try:
        status = p.wait(wall)
        return None if status in (-9, -24) and cpu else status
    except subprocess.TimeoutExpired:
        return None
    finally:
        try: os.killpg(p.pid, 9)  # what it started
        except ProcessLookupError: pass
        p.wait()


class Campaign:
    def __init__(self, a):
        self.a, self.base = a, os.path.join(os.path.abspath(a.build), "mutate")
        self.source, self.build = os.path.join(self.base, "source"), os.path.join(self.base, "build")
        os.makedirs(self.base, exist_ok=True)
        self.alone = open(os.path.join(self.base, "lock"), "w")
        fcntl.flock(self.alone, fcntl.LOCK_EX)  # one campaign at a time
        files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.split()
        self.text = {f: open(os.path.join(ROOT, f), "rb").read() for f in sorted(files) if os.path.isfile(os.path.join(ROOT, f))}
        self.env = dict(os.environ, TMPDIR=self.base, XDG_CACHE_HOME=os.path.join(self.base, "cache"), GCOV_PREFIX=os.path.join(self.base, "counts"), CAROM_TEST_FIRST="1")
        self.sources = self.digest("src/|include/")
        self.make_copy()
        self.look()

    def digest(self, pattern):
        h = hashlib.sha256()
        for f, text in self.text.items():
            if re.match(pattern, f): h.update(f.encode() + b"\0" + text)
        return h.hexdigest()[:16]

    def ninja(self, *targets): return subprocess.run(["ninja", "-C", self.build, "-j", self.a.jobs] + list(targets), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode

    def target(self, command):
        program = os.path.relpath(command[0], self.build)
        return program if program.startswith("test/") else "carom_cli"

    def make_copy(self):
        for f, text in self.text.items():
            to = os.path.join(self.source, f)
            if not os.path.exists(to) or open(to, "rb").read() != text:
                os.makedirs(os.path.dirname(to), exist_ok=True)
                shutil.copy2(os.path.join(ROOT, f), to), os.utime(to)
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            subprocess.check_call(["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_BUILD_TYPE=Coverage", "-DCMAKE_C_FLAGS_COVERAGE=-O1 --coverage",
                                   "-DCMAKE_C_COMPILER_LAUNCHER=" + (shutil.which("ccache") or "")], stdout=subprocess.DEVNULL)
        self.ninja("build.ninja")  # new tests are known after it
        for again in (False, True):  # a program that is not built yet has no command
            shown = subprocess.run(["ctest", "--test-dir", self.build, "--show-only=json-v1"], stdout=subprocess.PIPE, text=True, check=True).stdout
            self.tests, missing = {}, []
            for t in json.loads(shown)["tests"]:
                properties = {p["name"]: p["value"] for p in t.get("properties", [])}
                if not re.fullmatch(self.a.tests, t["name"]) or "long" in properties.get("LABELS", []): continue
                if "command" in t: self.tests[t["name"]] = (t["command"], properties["WORKING_DIRECTORY"])
                else: missing.append(t["name"])
            if not missing or again: break
            if self.a.tests == ".*": self.ninja()
            else: self.ninja("carom_cli", *{re.sub(r"_\d$", "", t) for t in missing if os.path.exists(os.path.join(self.source, "test/%s.c" % re.sub(r"_\d$", "", t)))})  # parts of one program
        if self.ninja("carom_core", "carom_files") != 0: sys.exit("the copy does not build: ninja -C " + self.build)

    def parts_of(self, file, known=()):
        """A test, the headers of test/ that it includes, and theirs, and the files of test/ that it names."""
        if file in known or file not in self.text: return list(known)
        known = list(known) + [file]
        if file.endswith((".c", ".h")):
            for name in re.findall(rb'(?:#include "|/test/)([\w.]+)', self.text[file]): known = self.parts_of("test/" + name.decode(), known)
        return known

    def look(self):
        """Seconds of every quick test and the lines that it executes, known from the last time if the test has not changed.  Where a source has
        changed since, a test that reached any line of it counts as reaching all."""
        kept = os.path.join(self.base, "looked.json")
        known = json.load(open(kept)) if os.path.exists(kept) else {}
        self.looked, self.reach, self.touch = {}, collections.defaultdict(set), collections.defaultdict(set)
        for t, (command, cwd) in self.tests.items():
            key = short(b"".join(self.text[f] for f in self.parts_of("test/%s.c" % os.path.basename(command[0]))) + " ".join(command[1:]).encode())
            longer = known.get(t, {}).get("seconds", 0) is None and known[t].get("longest", 0) < self.a.longest  # it was left out: now there may be time for it
            if known.get(t, {}).get("key") != key or longer or not set(self.a.folders) <= set(known[t]["folders"]):
                if self.ninja(self.target(command)) != 0: sys.exit("%s does not build: ninja -C %s" % (t, self.build))
                folders = sorted(set(self.a.folders) | set(known.get(t, {}).get("folders", [])))
                known[t] = dict(self.look_at(command, cwd, folders), key=key, folders=folders, longest=self.a.longest, sources=self.sources)
                with open(kept + ".part", "w") as o: json.dump(known, o)
                os.rename(kept + ".part", kept)
                print("%s: %s" % (t, "left out" if known[t]["seconds"] is None else "%.1f s" % known[t]["seconds"]), flush=True)
            if known[t]["seconds"] is not None: self.looked[t] = known[t]
        self.left_out = [t for t in self.tests if t not in self.looked]
        for t, k in self.looked.items():
            for f, (source, lines) in k["lines"].items():
                if source != short(self.text.get(f, b"")): self.touch[f].add(t)
                else:
                    for line in lines: self.reach[f, line].add(t)

    def look_at(self, command, cwd, folders):
        for top, _, names in os.walk(self.build):
            for f in names:
                if f.endswith(".gcda"): os.unlink(os.path.join(top, f))
        env = {k: v for k, v in self.env.items() if k != "GCOV_PREFIX"}
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
        status = run(command, cwd, env, cpu=self.a.longest, wall=4 * self.a.longest)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if status not in (0, 77): return {"seconds": None, "lines": {}}
        lines, data = collections.defaultdict(set), []
        for folder in folders:
            for top, _, names in os.walk(os.path.join(self.build, "src", "CMakeFiles")):
                data += [os.path.join(top, f) for f in names if f.endswith(".gcda") and "/%s/" % folder in top + "/"]
        if data:
            told = subprocess.run(["gcov", "--json-format", "--stdout"] + data, cwd=self.base, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            for one in told.decode().split("\n"):
                report = json.loads(one) if one.startswith("{") else {"files": []}
                for f in report["files"]:
                    path = os.path.relpath(os.path.join(report["current_working_directory"], f["file"]), self.source)
                    if path in self.text: lines[path].update(l["line_number"] for l in f["lines"] if l["count"] > 0)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {"seconds": cpu, "wall": time.time() - start, "lines": {f: (short(self.text[f]), sorted(v)) for f, v in lines.items()}}

    def reaching(self, fault):
        """Tests that execute the fault's line, or, where gcov counts a statement at another line, one of its neighbours; where there are none, as in a table of
        numbers, all that execute something of the file."""
        for near in (0, 1, 2):
            tests = set().union(*(self.reach[fault.file, fault.line + d] for d in (near, -near)))
            if tests: return tests | self.touch[fault.file]
        return {t for t, k in self.looked.items() if fault.file in k["lines"]}

    def judge(self, fault, kills):
        """(what notices the fault or None, seconds, tests that passed)"""
        text, path, start, spent, passed = self.text[fault.file].decode(), os.path.join(self.source, fault.file), time.time(), 0, 0
        with open(path, "w") as o: o.write(text[:fault.at] + fault.new + text[fault.at + fault.length:])
        fate = None
        try:
            words = [w for w in re.split(r"[_./]", fault.file) if len(w) > 1 and w != "src"]
            if "io" in words: words += ["storage", "result", "hostile", "survivors", "snapshots", "refused", "rows", "layout", "misfit"]
            if "pulses" in words or "warnings" in words: words += ["warning"]
            if "sim" in words: words += ["steps", "measures", "parts"]
            if "event" in words: words += ["margin", "numbering", "changes"]
            if "energetic" in words: words += ["impact_laws"]
            worth = lambda t: (1 + 3 * kills[t]) * (12 if t.startswith("test_figures") else 4 if any(w in t for w in words) else 1) / (0.5 + self.looked[t]["seconds"])  # that sees most; a test of that name is sharp, too
            order = sorted(self.reaching(fault), key=lambda t: (-worth(t), t))
            if self.ninja("carom_core", "carom_files") != 0: order, fate = [], "does not build"
            for t in order:
                if spent > self.a.seconds and self.looked[t]["seconds"] > 0.2: continue  # those that take no time are asked in any case
                command, cwd = self.tests[t]
                if self.ninja(self.target(command)) != 0: fate = "does not build"; break
                shutil.rmtree(self.env["GCOV_PREFIX"], ignore_errors=True)  # counts of another program would be told on stderr, which some tests read
                status = run(command, cwd, self.env, cpu=5 * self.looked[t]["seconds"] + 5, wall=20 * self.looked[t]["wall"] + 20)
                if status not in (0, 77): fate = t + (" (time)" if status is None else ""); break
                spent, passed = spent + self.looked[t]["seconds"], passed + 1
        finally:
            with open(path, "w") as o: o.write(text)
        if fate and fate != "does not build" and not self.sound(fate.split()[0]): return self.judge(fault, kills)
        return fate, time.time() - start, passed

    def sound(self, t):
        """A test that was looked at with other sources: does it pass without a fault?  If not, it is not asked any more."""
        k = self.looked[t]
        if k.get("sources") != self.sources:
            command, cwd = self.tests[t]
            shutil.rmtree(self.env["GCOV_PREFIX"], ignore_errors=True)
            if self.ninja("carom_core", "carom_files", self.target(command)) != 0 or run(command, cwd, self.env, cpu=5 * k["seconds"] + 5, wall=20 * k["wall"] + 20) not in (0, 77):
                del self.looked[t]
                self.left_out.append(t)
                for tests in list(self.reach.values()) + list(self.touch.values()): tests.discard(t)
                return False
            k["sources"] = self.sources
        return True


def equivalent():
    """Names of faults that give an equivalent program; the reason stands indented below each."""
    with open(os.path.join(ROOT, "tools/mutate-equivalent.txt")) as f: return {l.rstrip("\n") for l in f if l.startswith("src/")}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("build")
    ap.add_argument("--faults", type=int, default=120)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--jobs", default="2")
    ap.add_argument("--minutes", type=float, default=1e9, help="stop after so many")
    ap.add_argument("--seconds", type=float, default=120, help="of tests for one fault")
    ap.add_argument("--longest", type=float, default=12, help="seconds of computing that a test may take in the build with coverage, about three times those of the default build; others are not asked")
    ap.add_argument("--tests", default=".*", help="names of tests, a regular expression; without: all of the default suite")
    ap.add_argument("--sharp", dest="tests", action="store_const", const=SHARP, help="the programs that have found most, none else")
    ap.add_argument("--only", default="", help="faults whose name has this in it")
    ap.add_argument("--list", action="store_true", help="print the faults and do no more")
    ap.add_argument("folders", nargs="+")
    a = ap.parse_args()
    equal, planted = equivalent(), []
    by_folder = {}
    for folder in a.folders:
        every, rng = [], random.Random("%d %s" % (a.seed, folder))
        for top, _, names in os.walk(os.path.join(ROOT, "src", folder)):
            for f in names:
                path = os.path.relpath(os.path.join(top, f), ROOT)
                if f.endswith(".c"): every += faults_of(path, open(os.path.join(ROOT, path)).read())
        for stale in {s for s in equal if s.startswith("src/%s/" % folder)} - {x.name for x in every}: print("no such fault any more: " + stale)
        every = sorted(every)
        rng.shuffle(every)
        by_folder[folder] = [x for x in every if a.only in x.name]
    for n in range(a.faults):
        of = by_folder[a.folders[n % len(a.folders)]]
        if of: planted.append((a.folders[n % len(a.folders)], of.pop()))
    if a.list:
        for n, (folder, fault) in enumerate(planted): print(n, "%s:%d" % (fault.file, fault.line), fault.name)
        return
    c = Campaign(a)
    kept = os.path.join(c.base, "results.jsonl")
    known, kills, tests = {}, collections.defaultdict(collections.Counter), c.digest("test/")
    for r in map(json.loads, open(kept)) if os.path.exists(kept) else []:
        known[r["name"], r["file"]] = r
        if r["fate"]: kills[r["folder"]][r["fate"].split()[0]] += 1
    tally, survivors, begun = collections.Counter(), [], time.time()
    fresh = lambda x: (x[1][1].name, short(c.text[x[1][1].file])) not in known  # before survivors are judged again
    for n, (folder, fault) in sorted(enumerate(planted), key=lambda x: not fresh(x)):
        of = short(c.text[fault.file])
        r = known.get((fault.name, of))
        if not r or (not r["fate"] and (r["tests"] != tests or r.get("allowed", 0) < a.seconds)):
            if time.time() - begun > 60 * a.minutes: break
            fate, seconds, passed = c.judge(fault, kills[folder])
            r = {"name": fault.name, "file": of, "folder": folder, "line": fault.line, "fate": fate, "tests": tests, "seconds": round(seconds, 1), "passed": passed, "allowed": a.seconds}
            with open(kept, "a") as o: o.write(json.dumps(r) + "\n")
            if fate: kills[folder][fate.split()[0]] += 1
        tally[folder, "unbuilt" if r["fate"] == "does not build" else "killed" if r["fate"] else "equivalent" if fault.name in equal else "survived"] += 1
        if not r["fate"] and fault.name not in equal: survivors.append("%s (line %d, %d tests passed)" % (fault.name, r["line"], r["passed"]))
        print("%3d %-24s %5.0f s %s" % (n, r["fate"] or "SURVIVED", r["seconds"], fault.name[:180]), flush=True)
    c.ninja("carom_core", "carom_files")
    if c.left_out: print("\nnot asked, because they fail or take more than %g s (--longest): %s" % (a.longest, " ".join(c.left_out)))
    print("\nsurvivors:" if survivors else "\nno survivors")
    for s in survivors: print("  " + s)
    for folder in a.folders + ["all"]:
        k, s, e, u = (sum(v for (f, what), v in tally.items() if what == w and folder in (f, "all")) for w in ("killed", "survived", "equivalent", "unbuilt"))
        if k + s: print("%-10s %3d of %3d killed, %.0f %%; without %d equivalent %.0f %% (%d did not build)" % (folder, k, k + s + e, 100 * k / (k + s + e), e, 100 * k / (k + s), u))


main()
