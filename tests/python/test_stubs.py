"""The stubs of pyquasar know every name of the package; mypy accepts what the manual prints, and refuses nonsense."""
import ast, keyword, os, subprocess, sys, tempfile, unittest

import pyquasar as q

FOLDER = os.path.dirname(os.path.abspath(q.__file__))
MANUAL = """
import pyquasar as q
q.init("cpu", loadCompiler=True)
a = q.value([5,4,3,2,1]) + q.value(2.0)
print(a.to_py())
w = q.typename("vec[mat]")(4)
A = q.zeros(20,20,3)
ptr = A.lock(q.LOCK_READ, q.MEMRESOURCE_DEVICE0+5)
q.memcpy(ptr, ptr, 4)
A.unlock(q.LOCK_READ, q.MEMRESOURCE_CPU)
hot = q.value([1,0.2,0]) * 255
m = q.compile_string("color_temperature", "")
q.parallel_do(q.size(A,[0,1]), A, hot, m.color_temperature)
with a.locked(q.LOCK_READ) as p:
    q.memcpy(p, p, 1)
try:
    q.run_gui()
except q.QuasarIndexError as e:
    print(isinstance(e, IndexError))
"""
WRONG = ["q.init(7)", "q.memcpy('a', 0, 1)", "q.compile_string('a')", "q.value(1).lock('w')",
         "x: str = q.devices()[0].memory",
         "q.parralel_do(3)", "q.sin()", "q.linspace(1, 2, 3, 4)"]


class Stubs(unittest.TestCase):
    def test_every_name_is_there(self):
        with open(os.path.join(FOLDER, "__init__.pyi"), encoding="utf-8") as f:
            tree = ast.parse(f.read()).body
        names = {n.target.id if isinstance(n, ast.AnnAssign) else getattr(n, "name", "") for n in tree}
        names |= {a.asname for n in tree if isinstance(n, ast.ImportFrom) for a in n.names}  # parts of the package
        q.destroy()
        q.init("cpu")
        with open(os.path.join(FOLDER, "_language.pyi"), encoding="utf-8") as f:
            language = {getattr(n, "name", "") or n.target.id for n in ast.parse(f.read()).body[1:]}
        known = names | language | set(keyword.kwlist)
        self.assertEqual({n for n in dir(q) if not n.startswith("_")} - known, set())
        qvalue = next(n for n in tree if getattr(n, "name", "") == "qvalue")
        members = {n.name for n in qvalue.body if isinstance(n, ast.FunctionDef)}
        q.destroy()
        self.assertEqual({n for n in dir(q) if not n.startswith("_")} - names, set())
        self.assertEqual({n for n in dir(q.qvalue) if not n.startswith("_")} - members, set())
        self.assertTrue(os.path.exists(os.path.join(FOLDER, "py.typed")))

    def test_mypy(self):
        try:
            import mypy  # noqa: F401
        except ImportError:
            self.skipTest("needs mypy")
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "manual.py")
            with open(path, "w") as f:
                f.write(MANUAL + "\n".join(WRONG) + "\n")
            r = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", d, path], capture_output=True,
                               text=True,
                               env={**os.environ, "MYPYPATH": os.path.dirname(FOLDER)})
        lines = sorted(int(line.split(":")[1]) for line in r.stdout.splitlines() if ": error:" in line)
        first = MANUAL.count("\n") + 1
        self.assertEqual(lines, list(range(first, first + len(WRONG))), r.stdout + r.stderr)


if __name__ == "__main__":
    unittest.main()
