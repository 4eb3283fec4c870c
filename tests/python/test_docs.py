"""The samples in Python of README.md, docs/python.md and docs/coming_from.md: each prints what stands below it."""
import contextlib, io, os, re, unittest

import pyquasar as q
from optional import library

numpy, torch = library("numpy"), library("torch")

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@unittest.skipUnless(numpy, "needs numpy")
class Docs(unittest.TestCase):
    def check(self, page, least):
        q.destroy()
        with open(os.path.join(ROOT, page), encoding="utf-8") as f:
            samples = re.findall(r"^(<!-- needs torch -->\n)?```python\n(.*?)^```\n\n```output\n(.*?)^```$", f.read(),
                                 re.M | re.S)
        self.assertGreaterEqual(len(samples), least)
        names = {}
        for needs, code, wanted in samples:
            if needs and not torch:
                continue
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(code, page, "exec"), names)
            self.assertEqual(out.getvalue(), wanted, code)

    def test_python(self):
        self.check("docs/python.md", 5)

    def test_every_row_of_the_table_of_features_is_a_test(self):
        with open(os.path.join(ROOT, "docs/python.md"), encoding="utf-8") as f:
            rows = re.findall(r"\| ([^|]+) \|$", f.read().split("### Feature by feature")[1].split("\n## ")[0], re.M)
        self.assertGreater(len(rows), 20)
        for name in rows[1:]:
            module, *inside = name.split(".")
            with open(os.path.join(ROOT, "tests/python", module + ".py"), encoding="utf-8") as f:
                text = f.read()
            for part in inside:
                self.assertTrue(re.search(r"(class|def) %s\b" % part, text), name)

    def test_coming_from(self):
        self.check("docs/coming_from.md", 3)

    def test_readme(self):
        self.check("README.md", 1)


if __name__ == "__main__":
    unittest.main()
