"""Cells of the language in a notebook: a real kernel runs them, and the notebook of examples/."""
import glob, os, unittest

try:
    import ipykernel, nbclient, nbformat
except ImportError:
    nbclient = None
try:
    import numpy
except ImportError:
    numpy = None

import pyquasar

PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(pyquasar.__file__)))
EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "examples")


def execute(book, **options):
    client = nbclient.NotebookClient(book, timeout=60, kernel_name="python3", **options)
    client.execute(env={**os.environ, "PYTHONPATH": PACKAGES})


def outputs(cell):
    """The output below a cell: streams, results as text, errors as the traceback without its colours."""
    import re
    parts = []
    for o in cell.outputs:
        if o.output_type == "stream":
            parts.append(o.text)
        elif o.output_type == "error":
            parts.append(re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(o.traceback)))
        else:
            parts.append(o.data["text/plain"])
    return "".join(parts)


@unittest.skipUnless(nbclient and numpy, "needs numpy, ipykernel and nbclient")
class Notebook(unittest.TestCase):
    def run_cells(self, *texts):
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(t) for t in texts])
        execute(book, allow_errors=True)
        return [outputs(c) for c in book.cells]

    def test_cells(self):
        out = self.run_cells(
            "%load_ext pyquasar\nimport numpy as np\na, b = np.arange(3.0), [1, 2, 3]",
            "%%quasar -i a,b -o y\ny = a.*b + 1\na[0] = 7\nprint \"seen \", b\ny",
            "(type(y).__name__, y.tolist(), a[0])",
            "%%quasar -i a -o y -o z\nfunction y = f(x)\n  y = x[9]\nend\nz = numel(y);\nz;",
            "z",
            "%%quasar\nk = 1\nf(y)",
            "%%quasar\nk = 2\nr = nonsense + 1",
            "%%quasar -i missing\n1",
            "%%quasar -o\n-x a",
            "%%quasar a\n1",
            "%quasar k + z",
            "import pyquasar as q; q.k",
            "%%quasar\nfunction y = g(x) % what is no text of Python: ' (\n  y = x[9]\nend\ng([1, 2])",
            "%%quasar\nx = [1, 2")
        self.assertEqual(out[0], "")
        self.assertEqual(out[1], "seen [1,2,3]\n[1,3,7]")
        self.assertEqual(out[2], "('qvalue', [1.0, 3.0, 7.0], np.float64(7.0))")
        self.assertEqual(out[3:5], ["", "3.0"])
        self.assertIn("index 9 is outside dimension 1", out[5])
        self.assertRegex(out[5], r"In\[6\]:3[\s\S]*f\(y\)")
        self.assertRegex(out[5], r"In\[4\]:3[\s\S]*y = x\[9\]")
        self.assertRegex(out[6], r"In\[7\]:3[\s\S]*r = nonsense \+ 1[\s\S]*unknown name 'nonsense'")
        self.assertIn("there is no variable missing in Python", out[7])
        self.assertIn("-i and -o with names of variables are wanted, got 'a'", out[9])
        self.assertEqual(out[10:12], ["4.0", "1.0"])
        self.assertRegex(out[12], r"In\[13\]:3[\s\S]*-> 3   y = x\[9\]")
        self.assertNotIn("formatting exception", out[12] + out[13])
        self.assertRegex(out[13], r"In\[14\]:2\n\s*x = \[1, 2\n\s*\^")

    def test_init_of_what_is_open_and_figures_without_their_outline(self):
        out = self.run_cells("%load_ext pyquasar\nimport pyquasar as q", "%%quasar\nx = 1",
                             "q.init('cpu'); q.init(); q.x", "q.init('cpu', threads=1)", "%%quasar\nplot(1..5)")
        self.assertEqual(out[1:3], ["", "1.0"])
        self.assertIn("the machine is open already", out[3])
        self.assertNotIn("axes", out[4])

    def test_figures_are_shown_below_their_cell(self):
        texts = ("%load_ext pyquasar\nimport pyquasar as q", "%%quasar\nplot([1, 2, 3]);", "q.init('cpu')\n1 + 1",
                 "q.title('again', 'FontSize', 20);", "q.imshow(q.ones(4, 4)); q.plot([1, 2]);",
                 "%%quasar\nimagesc([0, 1], [0, 2], [[1, 2], [3, 4], [5, 6]]);\ncolorbar(\"v\")\nx = getframe();",
                 "assert q.getframe().shape[2] == 3")
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(t) for t in texts])
        execute(book, allow_errors=True)
        pictures = [sum("image/png" in o.get("data", {}) for o in c.outputs) for c in book.cells]
        self.assertEqual(pictures, [0, 1, 0, 1, 2, 1, 0])
        self.assertFalse([o for c in book.cells for o in c.outputs if o.output_type == "error"])

    def test_progress_is_a_bar_that_moves_in_place(self):
        texts = ("%load_ext pyquasar", "%%quasar\nfor k = progress(1..500, \"a<b\")\n  x = k\nend\nprogress(1, 4)",
                 "%%quasar\nprogress(2, 4, \"b\")")
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(t) for t in texts])
        execute(book, allow_errors=True)
        bars = [[o.data["text/html"] for o in c.outputs if o.output_type == "display_data"] for c in book.cells]
        self.assertEqual([len(b) for b in bars], [0, 2, 1])
        self.assertRegex(bars[1][0], r'^<progress value="1.0000"></progress> a&lt;b  100 %  500/500')
        self.assertRegex(bars[1][1], r'^<progress value="0.2500"></progress>  25 %  1/4')
        self.assertRegex(bars[2][0], r'^<progress value="0.5000"></progress> b   50 %  2/4')

    def test_built_ins_that_take_long_are_bars(self):
        text = """%%quasar
n = 300
repeat
    x = rand(n, n)
    begun = time()
    y = conv2(x, ones(31,31))
    took = time() - begun
    n = round(1.4*n)
until took > 2.5"""
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(t) for t in ("%load_ext pyquasar", text)])
        execute(book)
        bars = [o.data["text/html"] for o in book.cells[1].outputs if o.output_type == "display_data"]
        self.assertRegex(bars[-1], r'^<progress value="1.0000"></progress> conv2  \d+ s')

    def test_the_notebook_of_the_examples(self):
        for path in glob.glob(os.path.join(EXAMPLES, "*.ipynb")):
            book = nbformat.read(path, 4)
            execute(book, resources={"metadata": {"path": EXAMPLES}})
            for cell in book.cells:
                if cell.cell_type == "code":
                    self.assertFalse([o for o in cell.outputs if o.output_type == "error"])
            nbformat.validate(book)


if __name__ == "__main__":
    unittest.main()
