"""Runs qrun, with a cache directory of its own, for tests/command*.py; takes --qrun from the arguments."""
import contextlib, functools, os, shutil, subprocess, sys, tempfile, unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
QRUN = os.path.join(ROOT, "build", "qrun")
if "--qrun" in sys.argv:
    AT = sys.argv.index("--qrun")
    QRUN = sys.argv[AT + 1]
    del sys.argv[AT:AT + 2]

KERNEL = """
function [] = __kernel__ twice(x : vec, pos : int)
    x[pos] = 2*x[pos] + {n}
end
x = ones(1000)
parallel_do(1000, x, twice)
print sum(x)
"""


@contextlib.contextmanager
def script(text):
    """The name of a file that holds the text."""
    with tempfile.NamedTemporaryFile("w", suffix=".q") as f:
        f.write(text)
        f.flush()
        yield f.name


def qrun(*options, text=None, env=None, stdout=subprocess.PIPE):
    """Runs options, and text as a file behind them."""
    with script(text or "") as name:
        return subprocess.run([QRUN, *options] + ([name] if text else []), stdout=stdout, stderr=subprocess.PIPE,
                              text=True, timeout=120, env={**os.environ, **(env or {})})


def kernel(n=0):
    return KERNEL.format(n=n)


@functools.cache
def has_opencl():
    return qrun("--device", "opencl", "-e", "1").returncode == 0


class WithCache(unittest.TestCase):
    """Tests with a cache directory of their own."""

    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.env = {"QUASAR_CACHE_DIR": self.dir}
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def entries(self):
        folder = os.path.join(self.dir, "kernels")
        return [os.path.join(folder, e) for e in os.listdir(folder)] if os.path.isdir(folder) else []

    def damaged(self):
        """What the one entry holds; yielded once for each way of damaging it, when that is done."""
        entry, = self.entries()
        with open(entry, "rb") as f:
            whole = f.read()
        for damage in (b"", b"not a kernel", whole[:-7], whole[:200] + b"?" + whole[201:]):
            with open(entry, "wb") as f:
                f.write(damage)
            yield whole

    def good(self, result, output="2000\n"):
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, output, ""))
