"""The samples in Python of docs/python.md and docs/coming_from.md, in order: each prints what stands below it."""
import contextlib, io, os, re, unittest

import pyquasar as q

try:
    import numpy
except ImportError:
    numpy = None

try:
    import torch
except ImportError:
    torch = None

DOCS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs")


@unittest.skipUnless(numpy, "needs numpy")
class Docs(unittest.TestCase):
    def check(self, page, least):
        q.destroy()
        with open(os.path.join(DOCS, page), encoding="utf-8") as f:
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
        self.check("python.md", 5)

    def test_coming_from(self):
        self.check("coming_from.md", 3)



if __name__ == "__main__":
    unittest.main()
