"""The samples in Python of README.md and of pages of docs, each of which prints what stands below it; the examples."""
import contextlib, io, os, re, subprocess, sys, unittest

import pyquasar as q
from optional import library

numpy, torch = library("numpy"), library("torch")

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@unittest.skipUnless(numpy, "needs numpy")
class Docs(unittest.TestCase):
    def check(self, page, least):
        q.destroy()
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(ROOT)  # where the photographs are
        with open(os.path.join(ROOT, page), encoding="utf-8") as f:
            samples = re.findall(r"^(?:<!-- needs (\w+) -->\n)?```python\n(.*?)^```\n\n```output\n(.*?)^```$", f.read(),
                                 re.M | re.S)
        self.assertGreaterEqual(len(samples), least)
        names = {}
        for needs, code, wanted in samples:
            if needs and not library(needs):
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
        self.check("docs/coming_from.md", 4)

    def test_derivatives(self):
        self.check("docs/differentiation.md", 3)

    @unittest.skipUnless(torch, "needs torch")
    def test_the_denoiser_of_the_examples(self):
        env = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(q.__file__)))
        r = subprocess.run([sys.executable, os.path.join(ROOT, "examples", "denoise_torch.py"), "--quick"], env=env,
                           capture_output=True, text=True)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)  # it has gained 6 dB

    def test_array_api(self):
        self.check("docs/array_api.md", 3)

    def test_clusters(self):
        self.check("docs/cluster.md", 1)

    def test_readme(self):
        self.check("README.md", 1)


if __name__ == "__main__":
    unittest.main()
