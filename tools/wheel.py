#!/usr/bin/env python3
"""wheel.py BUILD OUT: a wheel with the library, the program and what they need inside, for this machine's kind of processor.

Everything that `ldd` names goes along, and what the library loads when it is needed (BUILD/loaded.txt), but not the C library and what belongs to it; `patchelf` (Debian: patchelf) makes the files find each other.  The tag names the C library's
version here: the wheel works where it is as new or newer.
"""
import base64
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

SYSTEM = re.compile(r"^(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libutil)\.so")


def needs(file):
    lines = subprocess.run(["ldd", file], check=True, capture_output=True, text=True).stdout.splitlines()
    missing = [line.split()[0] for line in lines if "not found" in line]
    if missing:
        sys.exit(f"wheel.py: {file} needs {', '.join(missing)}, which is not here")
    found = dict(re.match(r"\s*(\S+) => (\S+)", line).groups() for line in lines if "=>" in line)
    return {name: path for name, path in found.items() if not SYSTEM.match(name)}


def loaded(build):
    """What is loaded by its name, and what that needs."""
    found = {}
    for path in (build / "loaded.txt").read_text().split():
        said = subprocess.run(["objdump", "-p", path], check=True, capture_output=True, text=True).stdout
        found.update({re.search(r"SONAME +(\S+)", said).group(1): path}, **needs(path))
    return found


def gather(build, package):
    """The library, the program and what they need, with paths relative to themselves."""
    shutil.copy(build / "libcarom.so", package / "libcarom.so")
    (package / "bin").mkdir()
    shutil.copy(build / "carom", package / "bin" / "carom")
    libraries = {**needs(build / "libcarom.so"), **needs(build / "carom"), **loaded(build)}
    libraries.pop("libcarom.so.0", None)
    (package / "lib").mkdir()
    for name, path in libraries.items():
        shutil.copy(os.path.realpath(path), package / "lib" / name)
        os.chmod(package / "lib" / name, 0o755)
    for file, path in [(package / "libcarom.so", "$ORIGIN/lib"), (package / "bin" / "carom", "$ORIGIN/../lib")] + [(f, "$ORIGIN") for f in (package / "lib").iterdir()]:
        subprocess.run(["patchelf", "--set-rpath", path, file], check=True)
        subprocess.run(["strip", "--strip-unneeded", file], check=True)


def tag():
    c, version = platform.libc_ver()
    if c != "glibc":
        sys.exit("wheel.py: only for the GNU C library")
    return f"py3-none-manylinux_{version.replace('.', '_')}_{platform.machine()}"


# The command `carom` of the environment: becomes the program at once, without importing the package and NumPy.
COMMAND = """#!python
import importlib.util
import os
import sys

program = os.path.join(os.path.dirname(importlib.util.find_spec("carom").origin), "bin", "carom")
os.execv(program, ["carom", *sys.argv[1:]])
"""


def describe(info, version, kind):
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: carom\nVersion: {version}\nSummary: Simulation of mechanical systems with contacts, impacts and dry friction\n"
                                   "License: Apache-2.0\nLicense-File: LICENSE\nLicense-File: THIRD-PARTY.md\nRequires-Python: >=3.9\nRequires-Dist: numpy\n")
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: carom\nRoot-Is-Purelib: false\nTag: {kind}\n")


def pack(root, info, file):
    digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record = info.relative_to(root) / "RECORD"
    files, lines = sorted(p for p in root.rglob("*") if p.is_file()), []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
        def add(name, data, mode):
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, data)

        for p in files:
            name, data = p.relative_to(root).as_posix(), p.read_bytes()
            add(name, data, 0o100755 if os.access(p, os.X_OK) else 0o100644)
            lines.append(f"{name},sha256={digest(data)},{len(data)}\n")
        add(record.as_posix(), "".join(lines) + f"{record.as_posix()},,\n", 0o100644)


def main(build, out):
    source = pathlib.Path(__file__).resolve().parents[1]
    version = re.search(r'^version = "(.*)"', (source / "python" / "pyproject.toml").read_text(), re.M).group(1)
    if not shutil.which("patchelf"):
        sys.exit("wheel.py: no patchelf (Debian: apt-get install patchelf)")
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        shutil.copytree(source / "python" / "carom", root / "carom", ignore=shutil.ignore_patterns("__pycache__"))
        gather(build, root / "carom")
        info = root / f"carom-{version}.dist-info"
        describe(info, version, tag())
        scripts = root / f"carom-{version}.data" / "scripts"
        scripts.mkdir(parents=True)
        (scripts / "carom").write_text(COMMAND)
        (scripts / "carom").chmod(0o755)
        (info / "licenses").mkdir()
        for name in ("LICENSE", "THIRD-PARTY.md"):
            shutil.copy(source / name, info / "licenses" / name)
        out.mkdir(parents=True, exist_ok=True)
        file = out / f"carom-{version}-{tag()}.whl"
        pack(root, info, file)
    print(f"{file} ({file.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]))
