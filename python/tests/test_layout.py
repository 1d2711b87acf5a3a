"""The mirrors of C structs and functions are those of the headers."""
import ctypes
import os
import re
import shutil
import subprocess
import unittest

from common import ROOT, Case
from carom import _library as c

CC = os.environ.get("CAROM_CC") or shutil.which("cc")


class Layout(Case):
    @unittest.skipUnless(CC, "no C compiler")
    def test_structs_have_the_sizes_and_offsets_of_the_compiler(self):
        lines = []
        for name, mirror in c.MIRRORS.items():
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            for field, *_ in mirror._fields_:
                lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));')
        source, program = self.folder / "layout.c", self.folder / "layout"
        headers = "".join(f"#include <carom/{p.name}>\n" for p in sorted((ROOT / "include" / "carom").glob("*.h")))
        source.write_text(headers + "#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n" +
                          "\n".join(lines) + "\nreturn 0;\n}\n")
        subprocess.run([CC, "-std=c17", f"-I{ROOT}/include", str(source), "-o", str(program)], check=True)
        said = dict(line.split(" ", 1) for line in subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.splitlines())
        for name, mirror in c.MIRRORS.items():
            self.assertEqual(said[name], str(ctypes.sizeof(mirror)), name)
            for field, *_ in mirror._fields_:
                f = getattr(mirror, field)
                self.assertEqual(said[f"{name}.{field}"], f"{f.offset} {f.size}", f"{name}.{field}")

    def test_functions_are_declared_with_as_many_arguments(self):
        text = "\n".join(re.sub(r"//.*", "", p.read_text()) for p in sorted((ROOT / "include" / "carom").glob("*.h")))
        for name, (_, arguments) in c.FUNCTIONS.items():
            found = re.search(rf"\b{name}\(([^;{{]*)\);", text)
            self.assertTrue(found, name)
            flat = re.sub(r"\(\*\w+\)\([^()]*\)", "", found[1])  # a function is one argument
            declared = [] if flat.strip() == "void" else flat.split(",")
            self.assertEqual(len(declared), len(arguments), name)

    def test_codes_and_versions_are_those_of_the_headers(self):
        status = (ROOT / "include/carom/status.h").read_text()
        words = re.findall(r"^    CAROM_(\w+)", status, re.M)
        self.assertEqual([getattr(c, w) for w in words], list(range(len(words))))
        version = re.search(r'CAROM_VERSION "([^"]+)"', (ROOT / "include/carom/version.h").read_text())[1]
        self.assertEqual(version, c.VERSION)
        self.assertIn(f'version = "{version}"', (ROOT / "python/pyproject.toml").read_text())


if __name__ == "__main__":
    unittest.main()
