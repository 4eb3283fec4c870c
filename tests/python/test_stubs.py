"""The stubs of pyquasar know every name of the package; mypy accepts what the manual prints, and refuses nonsense."""
import ast, keyword, os, shutil, subprocess, sys, tempfile, unittest

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
rows, columns = q.find(A, nargout=2)
height, width = q.size(A, nargout=2)
b: q.qvalue = 2*a - A/3
with a.locked(q.LOCK_READ) as p:
    q.memcpy(p, p, 1)
try:
    q.run_gui()
except q.QuasarIndexError as e:
    print(isinstance(e, IndexError))
"""
WRONG = ["q.init(7)", "q.memcpy('a', 0, 1)", "q.compile_string('a')", "q.value(1).lock('w')",
         "x: str = q.devices()[0].memory",
         "y: str = q.value([1]).ndim", "z: str = float(q.value([1]))", "a1: int = q.value([1]).typename",
         "a2: str = len(q.value([1]))",
         "a3: str = q.value([1]).size", "q.value([1]).sum(axis='a')", "q.value([1]).reshape(1, order=3)",
         "q.value([1]).nbytes.upper()", "q.value([1]).sum(nonsense=1)", "q.device_to_torch(3)",
         "q.from_numpy([1], copy=[])",
         "q.devices().x", "q.gradcheck(3)", "a4: int = q.value([1]).tobytes()", "q.value([1]).astype('f4', casting=1)",
         "b1: int = 2*q.value([1]) - q.value([1])/3", "b2: int = -q.value([1])",
         "q.parralel_do(3)", "q.sin()", "q.linspace(1, 2, 3, 4)"]


ALLOWED = r"""
# Files that are no module, or are run.
pyquasar\._language
pyquasar\.__main__
# Fields of objects and functions that take them are found by a slot of the type.
pyquasar\.qvalue\.__getattr__
# Values that are types can be called; they are of a subclass.
pyquasar\.qvalue\.__call__
# Other values than arrays do not have these, which descriptors of our own see to.
pyquasar\.qvalue\.(T|imag|itemsize|nbytes|real)
# Protocols that other libraries look for.
pyquasar\..*\.__(dask_tokenize|jax_array|torch_function|signature)__
# C types, of which a class has one base at most; the decorator that says so is newer than what the package asks for.
pyquasar\.(qvalue|qfunction)
# Named in the stub for the types of other arguments alone.
pyquasar\.array_api\.DType
# Arrays of the standard have one number or none: their item has no argument.
pyquasar\.array_api\.Array\.item
"""


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

    def test_types_are_those_of_python(self):
        """The language has functions int, float …, and a stub that imports these means them by the names."""
        with open(os.path.join(FOLDER, "_language.pyi"), encoding="utf-8") as f:
            language = {getattr(n, "name", "") or n.target.id for n in ast.parse(f.read()).body[1:]}
        with open(os.path.join(FOLDER, "__init__.pyi"), encoding="utf-8") as f:
            tree = ast.parse(f.read())
        annotations = [n.annotation for n in ast.walk(tree) if isinstance(n, (ast.arg, ast.AnnAssign)) and n.annotation]
        annotations += [n.returns for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.returns]
        used = {n.id for a in annotations for n in ast.walk(a) if isinstance(n, ast.Name)}
        self.assertTrue({"_int", "_str"} <= used)
        self.assertEqual(used & (language | {"int", "float", "complex", "bool", "str", "object", "type"}), set())

    def test_stubs_are_what_runs(self):
        """By mypy's stubtest: names, arguments and defaults of the stubs are those of the modules."""
        try:
            import mypy  # noqa: F401
        except ImportError:
            self.skipTest("needs mypy")
        with tempfile.TemporaryDirectory() as d:
            for folder, _, files in os.walk(FOLDER):  # alone: mypy would read torch, which modules import
                for name in files:
                    if name.endswith(".pyi"):
                        to = os.path.join(d, "stubs", "pyquasar", os.path.relpath(folder, FOLDER))
                        os.makedirs(to, exist_ok=True)
                        shutil.copy(os.path.join(folder, name), to)
            path = os.path.join(d, "allowed")
            with open(path, "w") as f:
                f.write(ALLOWED)
            r = subprocess.run([sys.executable, "-m", "mypy.stubtest", "--allowlist", path, "--concise", "pyquasar",
                                "--ignore-unused-allowlist"], capture_output=True, text=True, cwd=d,
                               env={**os.environ, "MYPYPATH": os.path.join(d, "stubs"),
                                    "PYTHONPATH": os.path.dirname(FOLDER)})
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)

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
