#!/usr/bin/env python3
"""Plants faults in a copy of the sources and asks for each whether the quick tests that reach it notice it.

    tools/mutate.py BUILD [--faults N] [--seed S] [--jobs J] [--minutes M] [--seconds T] [--sharp | --tests NAMES] [--matrix] FOLDER...

Faults by rule: a sign; `*` for `/` and the other way round; a comparison turned round (between real numbers `<` and `<=` are the same); `&&` for `||`; a constant
(integers plus one, reals times 1.5, thresholds such as 1e-12 times 1000); another index of an array; a loop that ends one too early; a factor, a call or an
assignment left out.  Not planted, because no result can depend on it or because another
kind of test looks for it: sizes of allocations, releases of memory, pages and handles (the leak sanitizer), assertions, texts and arguments of messages, what
a scheme promises (tests alone read it).
A fault that gives an equivalent program is listed in tools/mutate-equivalent.txt, with the reason; where it survives it is counted apart, and the rate is
given with and without.

All faults are built at once: a function with a fault is there twice, and the variable CAROM_FAULT says which of the two runs, so that nothing is compiled or linked
between faults; the library is a shared one there, so that 300 programs do not each hold a copy.  Faults outside of functions (tables, constants) are built one by one.  Each test of the default suite (no label `long`) runs once without a fault, must
pass, and tells which functions with faults it enters.  A fault is judged by those tests, those that found most for their time first, until one fails or takes
more than five times its time (killed), or until all have passed or T seconds of tests (120) are spent and those that take no time have passed, too (survived).
With --matrix all of these tests are asked, whatever they find, and at the end those are listed that found nothing which another did not find.
A fault that does not build is not counted.  J faults (2) are judged at once, each with a copy of the build folder in the place of the build folder, which takes
the rights to mount (root, or `unshare --map-root-user`); without them one after another.

The same seed plants the same faults in the same sources.  Results are kept in BUILD/mutate/results.jsonl: a campaign that was interrupted goes on, and
survivors are judged again after a test has changed, or with more seconds."""
import argparse, collections, concurrent.futures, fcntl, hashlib, json, os, random, re, shutil, subprocess, sys, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MESSAGE = r"\b(carom_fail\w*|carom_retry\w*|carom_format|snprintf|fprintf|printf|fputs|assert)\("
RELEASE = r"free|\w+_free|free_\w+|\w*close\w*|\w*destroy|\w*release|va_end|H5E\w*|carom_(chain_)?forget|carom_sim_trim"
ALLOCATION = r"\b(malloc|calloc|realloc|\w*carve\w*|\w*allocate\w*|\w*arena\w*|\w*grow\w*)\(|\broom\b"
# The programs that have found most.  With these alone (--sharp), 15 s of tests for a fault and nothing left out (--longest 30), a campaign of 100 takes about 20 minutes on two cores.
SHARP = "conformance_\\w+|docs_reference_\\w+|test_(%s)" % "|".join((
    "accumulate adaptive auto bodies books brakes certificate chain changes clearance clock closed_approach columns commands dense difference dg dg_orders dg_weights event event_bodies "
    "event_nasty evaluated every_scheme failed_step families fclib figures_\\d flex friction_laws functions ggl growth half_explicit hard hausdorff heap heap_sparse hostile hybrid "
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


def run(command, env, wall, before=()):
    """The exit status, None after `wall` seconds or where a limit of `before` killed it; and the seconds of computing."""
    p = subprocess.Popen(list(before) + command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    def end():
        try: os.killpg(p.pid, 9)
        except ProcessLookupError: pass
    late = threading.Timer(wall, end)
    late.start()
    _, status, used = os.wait4(p.pid, 0)
    late.cancel()
    end()  # what it started
    p.returncode = os.waitstatus_to_exitcode(status)
    return None if p.returncode in (-9, -24) else p.returncode, used.ru_utime + used.ru_stime


# Top-level functions of a C text without comments: (where the header begins, `{`, the end, name, arguments, whether it returns something), None for those that
# cannot be called by another function with the same arguments.
def functions_of(code):
    found, depth, start, last = [], 0, 0, 0
    for m in re.finditer(r"[{};]", code):
        if m.group() == "{":
            if depth == 0: start = m.start()
            depth += 1
        elif m.group() == "}":
            depth -= 1
            if depth == 0:
                header = code[last:start]
                call = re.fullmatch(r"(?s)(.*?)\b(\w+)(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))\s*", header)
                if call and "=" not in header: found.append((last + len(header) - len(header.lstrip()), start, m.end(), call))
                last = m.end()
        elif depth == 0: last = m.end()
    return found


def arguments_of(text):
    """Names of the parameters of `(...)`, or None."""
    inner, parts, depth, at = text[1:-1], [], 0, 0
    if inner.strip() in ("", "void"): return []
    for i, ch in enumerate(inner + ","):
        depth += (ch in "([") - (ch in ")]")
        if ch == "," and depth == 0: parts.append(inner[at:i]); at = i + 1
    names = []
    for p in parts:
        p = re.sub(r"\[[^\]]*\]", "", p).strip()
        m = re.match(r"(?s).*?\(\s*\*\s*(?:const\s+)?(\w+)\s*\)", p) or re.fullmatch(r"(?s).*[\s\*](\w+)", p)
        if not m or "..." in p: return None
        names.append(m.group(1))
    return names


# Without the headers of POSIX, which not every source may include; 02101: to write at the end of a file, which is made where it is missing.
POINT = """#include <stdlib.h>
#include <sys/syscall.h>
extern long syscall(long, ...);
static int carom_fault_now = -1;
static const char *carom_fault_file;
static __attribute__((constructor)) void carom_fault_begin(void) {
    const char *which = getenv("CAROM_FAULT");
    carom_fault_file = getenv("CAROM_FAULT_SEEN");
    if (which) carom_fault_now = atoi(which);
}
static __attribute__((unused, noinline, cold)) void carom_fault_note(int k) {
    const int fd = (int)syscall(SYS_openat, -100, carom_fault_file, 02101, 0666);
    const char text[] = {(char)('0' + k / 1000), (char)('0' + k / 100 % 10), (char)('0' + k / 10 % 10), (char)('0' + k % 10), 10};
    if (fd >= 0) syscall(SYS_write, fd, text, sizeof text), syscall(SYS_close, fd);
}
#define CAROM_FAULT_SEEN(k) do { static char seen; if (!seen && carom_fault_file) seen = 1, carom_fault_note(k); } while (0)
"""


def planted(text, faults):
    """The text with all faults of functions, and the numbers of those that are not in functions: [(number, fault)] of one file."""
    code = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.M | re.S)
    blank = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: re.sub(r"[^\n]", " ", m.group())[:-1] + ";" if len(m.group()) > 1 else m.group(), code, flags=re.M)
    pieces, alone = [], []  # (where, what is put there)
    functions = functions_of(blank)
    for k, f in faults:
        for start, brace, end, call in functions:
            names = arguments_of(call.group(3)) if brace < f.at < end else None
            if names is not None: break
        else:
            alone.append(k)
            continue
        before, name = call.group(1), call.group(2)
        nothing = re.search(r"\bvoid\s*$", before.strip()) is not None
        header = "%s%s__fault_%d%s" % (re.sub(r"\b(static|inline|extern|CAROM_API)\b", "", before), name, k, call.group(3))
        body = text[brace:f.at] + f.new + text[f.at + f.length:end]
        own = "%s%s%s;" % (before if "static" in before else "", name, call.group(3)) if "static" in before else ""
        pieces.append((start, "%s\nstatic %s%s\n" % (own, header, body)))
        go = "%s__fault_%d(%s);" % (name, k, ", ".join(names))
        pieces.append((brace + 1, " CAROM_FAULT_SEEN(%d); if (carom_fault_now == %d) %s" % (k, k, "{ %s return; }" % go if nothing else "return " + go)))
    for k in alone:
        for start, brace, end, call in functions: pieces.append((brace + 1, " CAROM_FAULT_SEEN(%d);" % k))
    first = min([start for start, *_ in functions], default=0)  # after what is included
    pieces.append((first, POINT))
    for where, what in sorted(pieces, key=lambda x: (-x[0], x[1] != POINT)): text = text[:where] + what + text[where:]
    return text, alone


class Campaign:
    def __init__(self, a, faults):
        self.a, self.base = a, os.path.join(os.path.abspath(a.build), "mutate")
        self.source = os.path.join(self.base, "copy")
        self.build = os.path.join(self.source, "build")  # as in a tree of one's own: ccache knows what has not changed
        os.makedirs(self.base, exist_ok=True)
        self.alone = open(os.path.join(self.base, "lock"), "w")
        fcntl.flock(self.alone, fcntl.LOCK_EX)  # one campaign at a time
        files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.split()
        self.text = {f: open(os.path.join(ROOT, f), "rb").read() for f in sorted(files) if os.path.isfile(os.path.join(ROOT, f))}
        self.faults = dict(enumerate(faults))
        self.make_copy()
        self.make_places()

    def digest(self, pattern):
        h = hashlib.sha256()
        for f, text in self.text.items():
            if re.match(pattern, f): h.update(f.encode() + b"\0" + text)
        return h.hexdigest()[:16]

    def ninja(self, *targets, keep=False): return subprocess.run(["ninja", "-C", self.build, "-j", str(self.a.jobs)] + ["-k", "0"] * keep + list(targets), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode

    def put(self, f, text):
        to = os.path.join(self.source, f)
        if os.path.exists(to) and open(to, "rb").read() == text: return
        os.makedirs(os.path.dirname(to), exist_ok=True)
        with open(to, "wb") as o: o.write(text)
        if f in self.text and os.access(os.path.join(ROOT, f), os.X_OK): os.chmod(to, 0o755)

    def write_file(self, file, only=None):
        """The file with its faults in functions, or with the one fault `only` that is in none."""
        faults = [(k, f) for k, f in self.faults.items() if f.file == file and k not in self.unbuilt]
        text = self.text[file].decode()
        if only is not None:
            f = self.faults[only]
            text = text[:f.at] + f.new + text[f.at + f.length:]
            self.put(file, text.encode())
            return
        text, alone = planted(text, faults)
        self.outside |= set(alone)
        self.put(file, text.encode())

    def make_copy(self):
        changed = sorted({f.file for f in self.faults.values()})
        self.unbuilt, self.outside = set(), set()
        for f, text in self.text.items():
            if f == "src/CMakeLists.txt":  # one copy of the library for all programs, but for those of FMUs; warnings of doubled functions are of no use
                text = re.sub(rb"add_library\((carom_core|carom_files) STATIC\)", rb"add_library(\1 SHARED)\nadd_library(\1_whole STATIC $<TARGET_OBJECTS:\1>)", text)
                text += "".join("set_source_files_properties(%s TARGET_DIRECTORY carom_core carom_files carom_fmu carom_cli PROPERTIES COMPILE_OPTIONS -w)\n" % os.path.join(self.source, c) for c in changed).encode()
            if f == "src/fmu/CMakeLists.txt": text = re.sub(rb"TARGET_FILE:(\w+)", rb"TARGET_FILE:\1_whole", text) + b"add_dependencies(carom_fmu carom_files_whole carom_core_whole)\n"
            if f == "test/CMakeLists.txt":  # the linker puts functions of tests in the place of others in these programs' own code alone
                wraps = {t for t in re.findall(rb"target_link_options\((\w+) [^\n]*--wrap", text)}
                text += b"foreach(name %s)\n  target_sources(${name} PRIVATE $<TARGET_OBJECTS:carom_core> $<TARGET_OBJECTS:carom_files>)\nendforeach()\n" % b" ".join(sorted(wraps))
            if f not in changed: self.put(f, text)
        for f in changed: self.write_file(f)
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            linker = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld"] if shutil.which("ld.lld") else []
            subprocess.check_call(["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", "-DCMAKE_C_COMPILER_LAUNCHER=" + (shutil.which("ccache") or "")] + linker + self.a.cmake, stdout=subprocess.DEVNULL)
        self.ninja("build.ninja")  # new tests are known after it
        if self.ninja("carom_core", "carom_files", keep=True) != 0:
            commands = {os.path.relpath(c["file"], self.source): c for c in json.loads(subprocess.run(["ninja", "-C", self.build, "-t", "compdb"], stdout=subprocess.PIPE, text=True).stdout) if c["file"].endswith(".c")}
            def builds(file):
                c = commands[file]
                words = [w for w in c["command"].split() if not w.endswith("ccache")]
                words = words[:words.index("-o")] + words[words.index("-o") + 2:] + ["-fsyntax-only", "-w"]
                return subprocess.run(words, cwd=c["directory"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
            for file in changed:
                if file not in commands or builds(file): continue
                mine = {k for k, f in self.faults.items() if f.file == file}
                for k in sorted(mine):
                    before, self.unbuilt = self.unbuilt, self.unbuilt | (mine - {k})
                    self.write_file(file)
                    good = builds(file)
                    self.unbuilt = before | (set() if good else {k})
                self.write_file(file)
            if self.ninja("carom_core", "carom_files") != 0: sys.exit("the copy does not build: ninja -C " + self.build)
        for again in (False, True):  # a test that is not built yet has no command
            shown = subprocess.run(["ctest", "--test-dir", self.build, "--show-only=json-v1"], stdout=subprocess.PIPE, text=True, check=True).stdout
            self.tests, missing = {}, []
            for t in json.loads(shown)["tests"]:
                properties = {p["name"]: p["value"] for p in t.get("properties", [])}
                if not re.fullmatch(self.a.tests, t["name"]) or "long" in properties.get("LABELS", []): continue
                environment = dict(e.split("=", 1) for e in properties.get("ENVIRONMENT", []) if "=" in e)
                if "command" in t: self.tests[t["name"]] = (t["command"], properties["WORKING_DIRECTORY"], environment)
                else: missing.append(t["name"])
            if again or not missing: break
            self.ninja(keep=True)
        programs = {os.path.relpath(command[0], self.build) for command, _, _ in self.tests.values()}
        if self.ninja("program") != 0: sys.exit("the program of the copy does not build: ninja -C " + self.build)
        self.ninja(*sorted(p for p in programs if p.startswith("test/")), keep=True)
        if any(t.startswith("docs_") for t in self.tests): self.install()

    def install(self):
        """What the pages of the documentation run: an installed carom, whose program and libraries are those of the build folder."""
        prefix = os.path.join(self.build, "test/install/prefix")
        subprocess.run(["cmake", "--install", self.build, "--prefix", prefix], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for top, _, names in os.walk(self.build):
            if top.startswith(prefix): continue
            for f in names:
                into = "bin" if (top, f) == (self.build, "carom") else "lib" if re.match(r"libcarom(_core|_files)?\.so", f) else None
                if not into: continue
                place = os.path.join(prefix, into, f)
                os.makedirs(os.path.dirname(place), exist_ok=True)
                if os.path.lexists(place): os.unlink(place)
                os.symlink(os.path.relpath(os.path.join(top, f), os.path.dirname(place)), place)

    def make_places(self):
        """One to judge in for each job: a copy of the build folder as it is now, which stands in its place for the programs that run there."""
        self.places = []
        bind = ["unshare", "--mount"] + ["--map-root-user"] * (os.getuid() != 0) + ["sh", "-c", 'mount --bind "$0" "$1" && shift && exec "$@"']
        for k in range(self.a.jobs):
            own = os.path.join(self.base, "place-%d" % k)
            shutil.rmtree(own, ignore_errors=True)
            os.makedirs(own)
            if subprocess.run(bind + [own, self.build, "true"], stderr=subprocess.DEVNULL).returncode != 0: break
            shutil.copytree(self.build, own, symlinks=True, dirs_exist_ok=True, ignore=lambda folder, names: [n for n in names if n == "CMakeFiles" or n.endswith(".a")])
            self.places.append((bind + [own, self.build], own))

    def test(self, t, place, cpu, wall, **more):
        """What run() gives for the test in a place, or with None in the build folder itself."""
        command, cwd, environment = self.tests[t]
        before, own = place or ([], self.base)
        env = {**os.environ, "TMPDIR": own, "XDG_CACHE_HOME": os.path.join(own, "cache"), "CAROM_TEST_FIRST": "1", **environment, **more}
        return run(command, env, wall, before + ["sh", "-c", 'cd "$0" && ulimit -c 0 && ulimit -t "$1" && shift && exec "$@"', cwd, str(int(cpu) + 1)])

    def at_once(self, work, things):
        """work(thing, place) for all of them, one in each place."""
        free = list(self.places) or [None]
        def do(thing):
            place = free.pop()
            try: work(thing, place)
            finally: free.append(place)
        with concurrent.futures.ThreadPoolExecutor(len(free)) as pool:
            for f in [pool.submit(do, x) for x in things]: f.result()

    def parts_of(self, file, known=()):
        """A test, the headers of test/ that it includes, and theirs, and the files of test/ that it names."""
        if file in known or file not in self.text: return list(known)
        known = list(known) + [file]
        if file.endswith((".c", ".h")):
            for name in re.findall(rb'(?:#include "|/test/)([\w.]+)', self.text[file]): known = self.parts_of("test/" + name.decode(), known)
        return known

    def look(self):
        """Seconds of every quick test and the faults whose function it enters, known from the last time if neither the test nor the faults have changed."""
        kept = os.path.join(self.base, "looked.json")
        known = json.load(open(kept)) if os.path.exists(kept) else {}
        plan = short(json.dumps([[k, f.name, self.digest(re.escape(f.file))] for k, f in self.faults.items()]).encode())
        self.looked, self.reach = {}, collections.defaultdict(set)
        def one(t, place):
            command = self.tests[t][0]
            key = short(b"".join(self.text[f] for f in self.parts_of("test/%s.c" % os.path.basename(command[0]))) + " ".join(command[1:]).encode())
            old = known.get(t, {})
            too_long = old.get("seconds", 0) is None and old.get("key") == key and old.get("longest", 0) >= self.a.longest
            if too_long or (old.get("key") == key and old.get("plan") == plan): return
            seen = os.path.join(self.base, "seen-" + t)
            if os.path.exists(seen): os.unlink(seen)
            start = time.time()
            status, cpu = self.test(t, place, self.a.longest, 10 * self.a.longest, CAROM_FAULT_SEEN=seen)
            entered = sorted(set(int(l) for l in open(seen) if re.fullmatch(r"\d{4}\n", l))) if os.path.exists(seen) else []
            known[t] = {"seconds": cpu if status in (0, 77) else None, "wall": time.time() - start, "key": key, "plan": plan, "entered": entered, "longest": self.a.longest}
            if os.path.exists(seen): os.unlink(seen)
            print("%s: %s" % (t, "left out (%s)" % status if status not in (0, 77) else "%.1f s" % cpu), flush=True)
        try: self.at_once(one, self.tests)
        finally:
            with open(kept + ".part", "w") as o: json.dump(known, o)
            os.rename(kept + ".part", kept)
        for t in self.tests:
            if known[t]["seconds"] is None: continue
            self.looked[t] = known[t]
            for k in known[t]["entered"]: self.reach[k].add(t)
        self.left_out = [t for t in self.tests if t not in self.looked]

    def judge(self, k, kills, place):
        """(what notices fault k, [] for nothing; seconds; how many tests were asked)"""
        fault, start, spent, asked, found = self.faults[k], time.time(), 0, 0, []
        if k in self.unbuilt: return ["does not build"], 0, 0
        alone = k in self.outside
        if alone:
            self.write_file(fault.file, only=k)
            if self.ninja("carom_core", "carom_files", "program") != 0: found = ["does not build"]
        try:
            words = [w for w in re.split(r"[_./]", fault.file) if len(w) > 1 and w != "src"]
            if "io" in words: words += ["storage", "result", "hostile", "survivors", "snapshots", "refused", "rows", "layout", "misfit"]
            if "pulses" in words or "warnings" in words: words += ["warning"]
            if "sim" in words: words += ["steps", "measures", "parts"]
            if "event" in words: words += ["margin", "numbering", "changes"]
            if "energetic" in words: words += ["impact_laws"]
            worth = lambda t: (1 + 3 * kills[t]) * (4 if t.startswith("test_figures") or any(w in t for w in words) else 1) / (0.5 + self.looked[t]["seconds"])  # a test of that name is sharp
            for t in sorted(self.reach[k], key=lambda t: (-worth(t), t)) if not found else []:
                if spent > self.a.seconds and self.looked[t]["seconds"] > 0.2: continue  # those that take no time are asked in any case
                program = os.path.relpath(self.tests[t][0][0], self.build)
                if alone and program.startswith("test/") and self.ninja(program) != 0: continue
                status, _ = self.test(t, place, 5 * self.looked[t]["seconds"] + 5, 20 * self.looked[t]["wall"] + 20, CAROM_FAULT=str(k))
                spent, asked = spent + self.looked[t]["seconds"], asked + 1
                if status not in (0, 77): found.append(t + (" (time)" if status is None else ""))
                if found and not self.a.matrix: break
        finally:
            if alone: self.write_file(fault.file)
        return found, time.time() - start, asked


def equivalent():
    """Names of faults that give an equivalent program; the reason stands indented below each."""
    with open(os.path.join(ROOT, "tools/mutate-equivalent.txt")) as f: return {l.rstrip("\n") for l in f if l.startswith("src/")}


def arguments(given=None):
    ap = argparse.ArgumentParser()
    ap.add_argument("build")
    ap.add_argument("--faults", type=int, default=120)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--jobs", type=int, default=2, help="compilers, and faults that are judged, at once")
    ap.add_argument("--minutes", type=float, default=1e9, help="stop after so many")
    ap.add_argument("--seconds", type=float, default=120, help="of tests for one fault")
    ap.add_argument("--longest", type=float, default=12, help="seconds of computing that a test may take; others are not asked")
    ap.add_argument("--tests", default=".*", help="names of tests, a regular expression; without: all of the default suite")
    ap.add_argument("--sharp", dest="tests", action="store_const", const=SHARP, help="the programs that have found most, none else")
    ap.add_argument("--matrix", action="store_true", help="ask every test for every fault, and list those that alone find nothing")
    ap.add_argument("--cmake", action="append", default=[], help="an argument for cmake")
    ap.add_argument("--only", default="", help="faults whose name has this in it")
    ap.add_argument("--list", action="store_true", help="print the faults and do no more")
    ap.add_argument("folders", nargs="+")
    a = ap.parse_args(given)
    for folder in a.folders:
        if not os.path.isdir(os.path.join(ROOT, "src", folder)): ap.error("src has no folder '%s'; write derive, cli, ..." % folder)
    return a


def choose(a):
    """[(folder, fault)]: one of each folder in turn"""
    equal, chosen, by_folder = equivalent(), [], {}
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
        if of: chosen.append((a.folders[n % len(a.folders)], of.pop()))
    return chosen


def judge_all(c, chosen):
    """Judges what is not known yet until the minutes are over: what is known of each of `chosen` then, or None."""
    kept, tests, begun, lock = os.path.join(c.base, "results.jsonl"), c.digest("test/"), time.time(), threading.Lock()
    known, kills = {}, collections.Counter()
    for r in map(json.loads, open(kept)) if os.path.exists(kept) else []:
        known[r["name"], r["file"]] = r
        for t in r["found"]: kills[t.split()[0]] += 1
    name = lambda k: (chosen[k][1].name, short(c.text[chosen[k][1].file]))

    def one(k, place):
        r, a = known.get(name(k)), c.a
        if r and (r["found"] or (r["tests"] == tests and r["allowed"] >= a.seconds)) and (r["matrix"] or not a.matrix): return
        if time.time() - begun > 60 * a.minutes: return
        found, seconds, asked = c.judge(k, kills, place)
        r = {"name": name(k)[0], "file": name(k)[1], "folder": chosen[k][0], "line": chosen[k][1].line, "found": found, "tests": tests, "seconds": round(seconds, 1), "asked": asked, "allowed": a.seconds, "matrix": a.matrix}
        with lock:
            known[name(k)] = r
            with open(kept, "a") as o: o.write(json.dumps(r) + "\n")
            for t in found: kills[t.split()[0]] += 1
            print("%3d %-24s %5.0f s %s" % (k, " ".join(found[:1]) + (" and %d" % (len(found) - 1)) * (len(found) > 1) or "SURVIVED", seconds, r["name"][:180]), flush=True)
    c.at_once(one, [k for k in range(len(chosen)) if k not in c.outside])
    for k in sorted(c.outside): one(k, None)  # the build folder itself changes
    return [known.get(name(k)) for k in range(len(chosen))]


def report(c, chosen, results):
    a, equal, tally, survivors, alone = c.a, equivalent(), collections.Counter(), [], collections.Counter()
    for (folder, fault), r in zip(chosen, results):
        if not r: continue
        tally[folder, "unbuilt" if r["found"] == ["does not build"] else "killed" if r["found"] else "equivalent" if fault.name in equal else "survived"] += 1
        if not r["found"] and fault.name not in equal: survivors.append("%s (line %d, %d tests passed)" % (fault.name, r["line"], r["asked"]))
        if len(r["found"]) == 1: alone[r["found"][0].split()[0]] += 1
    if c.left_out: print("\nnot asked, because they fail or take more than %g s (--longest): %s" % (a.longest, " ".join(c.left_out)))
    if a.matrix: print("\nfound nothing that no other test found: " + " ".join("%s (%.1f s)" % (t, c.looked[t]["seconds"]) for t in sorted(c.looked, key=lambda t: -c.looked[t]["seconds"]) if not alone[t]))
    print("\nsurvivors:" if survivors else "\nno survivors")
    for s in survivors: print("  " + s)
    for folder in a.folders + ["all"]:
        k, s, e, u = (sum(v for (f, what), v in tally.items() if what == w and folder in (f, "all")) for w in ("killed", "survived", "equivalent", "unbuilt"))
        if k + s: print("%-10s %3d of %3d killed, %.0f %%; without %d equivalent %.0f %% (%d did not build)" % (folder, k, k + s + e, 100 * k / (k + s + e), e, 100 * k / (k + s), u))



def main():
    a = arguments()
    chosen = choose(a)
    if a.list:
        for n, (folder, fault) in enumerate(chosen): print(n, "%s:%d" % (fault.file, fault.line), fault.name)
        return
    c = Campaign(a, [fault for _, fault in chosen])
    c.look()
    report(c, chosen, judge_all(c, chosen))


if __name__ == "__main__": main()
