"""The samples of docs/python.md that are in Python, one after the other: each prints what stands below it."""
import contextlib, io, os, re, unittest

import pyquasar as q

try:
    import numpy
except ImportError:
    numpy = None

DOCS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs", "python.md")


@unittest.skipUnless(numpy, "needs numpy")
class Docs(unittest.TestCase):
    def test_samples(self):
        q.destroy()
        with open(DOCS, encoding="utf-8") as f:
            samples = re.findall(r"^```python\n(.*?)^```\n\n```output\n(.*?)^```$", f.read(), re.M | re.S)
        self.assertGreaterEqual(len(samples), 5)
        names = {}
        for code, wanted in samples:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(code, "docs/python.md", "exec"), names)
            self.assertEqual(out.getvalue(), wanted, code)


if __name__ == "__main__":
    unittest.main()
