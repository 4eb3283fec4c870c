"""import pyquasar: functions, kernels and values in the processes of pools, without a line of set-up there."""
import os, pickle, subprocess, sys, tempfile, textwrap, unittest

import pyquasar as q
from optional import library

np, torch, joblib = library("numpy"), library("torch"), library("joblib")

PROGRAM = """
    function [] = __kernel__ add(x : vec, y : vec, k : scalar, pos : int)
      y[pos] = x[pos] + k
    end
    function y = scaled(x)
      y = x*factor
    end
    type point : mutable class
      x : scalar
    end
    factor = 2
    inverse = x -> 1/x"""


def run(folder, text, name="main.py", **files):
    """Runs a separate program with files beside it; returns its output."""
    for file, content in dict(files, **{name: text}).items():
        with open(os.path.join(folder, file.replace("_q", ".q")), "w") as f:
            f.write(textwrap.dedent(content))
    r = subprocess.run([sys.executable, "-W", "ignore", os.path.join(folder, name)], capture_output=True, text=True,
                       timeout=100)
    assert r.returncode == 0, (r.returncode, r.stdout, r.stderr)
    return r.stdout


class Processes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_main(self, body, head="", **files):
        start = "import pyquasar as q, sys\nimport numpy as np\n%s\nif __name__ == '__main__':\n    q.init('cpu')\n%s"
        text = start % (textwrap.dedent(head), textwrap.indent(textwrap.dedent(body), "    "))
        return run(self.folder, text, **files).split("\n")[:-1]

    def compiled(self, body):
        return "q.compile_string('p', '''%s''')\n%s" % (textwrap.dedent(PROGRAM), textwrap.dedent(body))

    @unittest.skipUnless(np, "needs numpy")
    def test_pools(self):
        body = """
            import multiprocessing, concurrent.futures as futures
            for way in ("fork", "spawn", "forkserver"):
                context = multiprocessing.get_context(way)
                with context.Pool(2) as pool:
                    print(way, pool.map(q.scaled, [1, 2, 3]), pool.starmap(add, [(q.add, i) for i in range(2)]),
                          pool.map(q.inverse, [4]), pool.map(q.sin, [0]), pool.apply(q.point, (), {"x": 3}).x)
                with futures.ProcessPoolExecutor(1, mp_context=context) as pool:
                    print(way, list(pool.map(q.scaled, [q.value([1, 2])])))"""
        head = """
            def add(kernel, k):
                x, y = np.arange(3, dtype=np.float32), np.zeros(3, np.float32)
                q.parallel_do(3, x, y, k, kernel)
                return y.tolist()"""
        out = self.run_main(self.compiled(body), head)
        want = ["%s [2.0, 4.0, 6.0] [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]] [0.25] [0.0] 3.0", "%s [[2,4]]"]
        self.assertEqual(out, [line % way for way in ("fork", "spawn", "forkserver") for line in want])

    @unittest.skipUnless(np, "needs numpy")
    def test_a_program_goes_as_it_was_compiled(self):
        # Its files are gone, or other ones, when it is loaded; a variable that Python has set stays set.
        body = """
            import multiprocessing, os
            m = q.compile_file(sys.path[0] + "/a.q")
            m.k = 5
            for file in os.listdir(sys.path[0]):
                if file.endswith(".q"): os.remove(sys.path[0] + "/" + file)
            open(sys.path[0] + "/c.q", "w").write("function y = deeper(x)\\n y = 0\\nend")
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(m.f, [1, 2]), pool.apply(call, (m, 3)), m.f(1))"""
        out = self.run_main(body, "def call(m, x):\n    return m.f(x)",
                            a_q="import \"b.q\"\nimport \"imfilter.q\"\nk = 1\n"
                                "function y = f(x)\n y = deep(x) + k\nend",
                            b_q="import \"c.q\"\nimport \"a.q\"\nfunction y = deep(x)\n y = deeper(x)\nend",
                            c_q="function y = deeper(x)\n y = 100*x\nend")
        self.assertEqual(out, ["[105.0, 205.0] 305.0 105.0"])

    def test_two_programs_of_one_name(self):
        q.init("cpu")
        text = "function y = which()\n y = %d\nend"
        q.compile_string("one", text % 1)
        first = pickle.dumps(q.which)
        self.assertEqual(pickle.loads(first), q.which)
        m = q.compile_string("one", text % 2)
        again = pickle.loads(first)
        self.assertEqual((again(), m.which(), pickle.loads(pickle.dumps(m.which)) == m.which), (1, 2, True))
        self.assertEqual(pickle.loads(first), again)

    def test_what_cannot_be_pickled_says_why(self):
        q.init("cpu")
        q.compile_string("a", "function y = both(x : scalar)\n y = x\nend")
        q.compile_string("b", "function y = both(x : vec)\n y = x\nend\nfunction f = make(k)\n f = x -> x + k\nend")
        for f, why in ((q.evaluate("x -> x"), "has a name in a program"), (q.make(1), "has a name in a program"),
                       (q.both, "several programs")):
            with self.assertRaisesRegex(pickle.PicklingError, why):
                pickle.dumps(f)
        self.assertEqual(pickle.loads(pickle.dumps(q.sin)), q.sin)

    @unittest.skipUnless(np and torch, "needs torch")
    def test_workers_of_a_data_loader(self):
        body = """
            import warnings
            for way in ("fork", "spawn", "forkserver"):
                batches = torch.utils.data.DataLoader(Rows(q.scaled, q.add), batch_size=4, num_workers=2,
                                                      multiprocessing_context=way)
                print(way, [b.sum().item() for b in batches])"""
        head = """
            import torch
            class Rows(torch.utils.data.Dataset):
                def __init__(self, f, kernel): self.f, self.kernel = f, kernel
                def __len__(self): return 8
                def __getitem__(self, i):
                    x = torch.full((3,), float(i))
                    q.parallel_do(3, x, x, 1, self.kernel)
                    return self.f(x).to_torch()"""
        out = self.run_main(self.compiled(body), head)
        self.assertEqual(out, ["%s [60.0, 156.0]" % way for way in ("fork", "spawn", "forkserver")])

    @unittest.skipUnless(np and joblib, "needs joblib")
    def test_joblib(self):
        out = self.run_main(self.compiled("""
            import joblib
            print(joblib.Parallel(n_jobs=2)(joblib.delayed(q.scaled)(i) for i in range(4)))
            print(joblib.Parallel(n_jobs=2)(joblib.delayed(lambda x, f=q.scaled: q.sum(f(q.ones(x))))(i)
                                          for i in range(1, 3)))"""))
        self.assertEqual(out, ["[0.0, 2.0, 4.0, 6.0]", "[2.0, 4.0]"])


if __name__ == "__main__":
    unittest.main()
