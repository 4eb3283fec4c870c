"""int64 and uint64 near 2^53, 2^62 and 2^63: operations of programs against the integers of Python and NumPy."""
import operator, os, random, tempfile, textwrap, unittest

import pyquasar as q
from optional import library

np = library("numpy")

SEED = int(os.environ.get("QUASAR_TEST_SEED", "1"))
EDGES = {"int64": [0, 1, -1, 2**53, -2**53, 2**62, -2**62, 2**63 - 1, -2**63],
         "uint64": [0, 1, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1]}
OPERATORS = {"+=": operator.add, "-=": operator.sub, ".*=": operator.mul}
DEVICES = ("cpu", "ref", "opencl")

# name of a way to update, its statements, and the positions that it changes; v is a number, or one for each position
WAYS = [("element", "z[1] OP v", [1]), ("elements", "z[1] OP v\nz[4] OP v", [1, 4]),
        ("slice", "z[1..3] OP v", [1, 2, 3]),
        ("all", "z[:] OP v", range(6)), ("whole", "z OP v", range(6)), ("list", "z[[0,4]] OP v", [0, 4]),
        ("mask", "m = zeros(6) > 1\nm[2] = true\nm[5] = true\nz[m] OP v", [2, 5]), ("last", "z[numel(z)-1] OP v", [5]),
        ("field", "o = object()\no.a = z\no.a[3] OP v", [3]), ("cell", "c = {z}\nc[0][2] OP v", [2]),
        ("loop", "for i = 0..5\nz[i] OP v\nend", range(6)),
        ("while", "i = 0\nwhile i < 6\nz[i] OP v\ni += 2\nend", [0, 2, 4]),
        ("calls", "for k = 0..1\nbump_OP(z, k, v)\nend", [0, 1]),
        ("kernel", "parallel_do(6, z, v, kernel_OP)", range(6)), ("typed", "parallel_do(6, z, v, typed_OP)", range(6))]
MANY = [("slice", "z[1..3] OP v", [1, 2, 3]), ("whole", "z OP v", range(6)), ("list", "z[[0,4]] OP v", [0, 4]),
        ("mask", "m = zeros(6) > 1\nm[2] = true\nm[5] = true\nz[m] OP v", [2, 5]),
        ("loop", "for i = 0..5\nz[i] OP v[i]\nend", range(6)), ("kernel", "parallel_do(6, z, v, many_OP)", range(6))]
NAMES = {"+=": "add", "-=": "sub", ".*=": "mul"}
HELPERS = """
function [] = bump_OP(z, k, v)
    z[k] SIGN v
end
function [] = __kernel__ kernel_OP(z, v, pos : int)
    z[pos] SIGN v
end
function [] = __kernel__ typed_OP(z, v : scalar, pos : int)
    z[pos] SIGN v
end
function [] = __kernel__ many_OP(z, v, pos : int)
    z[pos] SIGN v[pos]
end
"""


def programs():
    text = ""
    for sign, name in NAMES.items():
        text += HELPERS.replace("OP", name).replace("SIGN", sign)
        for ways, kind in ((WAYS, "one"), (MANY, "many")):
            for way, body, _ in ways:
                lines = body.replace("_OP", "_" + name).replace("OP", sign)
                text += "function [] = %s_%s_%s(z, v)\n%s\nend\n" % (kind, way, name, textwrap.indent(lines, "    "))
    return text


def values(rng, dtype, n):
    least, most = (-2**63, 2**63 - 1) if dtype == "int64" else (0, 2**64 - 1)
    return [min(max(rng.choice(EDGES[dtype]) + rng.randint(-3, 3), least), most) for _ in range(n)]


def wrapped(dtype, x):
    x %= 2**64
    return x - 2**64 if dtype == "int64" and x >= 2**63 else x


def updated(dtype, sign, x, v):
    """The rule of docs/language.md, section 11: an integral number is used as an integer."""
    if v == int(v):
        return 0 if dtype == "uint64" and sign == ".*=" and v < 0 else wrapped(dtype, OPERATORS[sign](x, int(v)))
    r = OPERATORS[sign](float(x), v)
    least, most = (-2**63, 2**63 - 1) if dtype == "int64" else (0, 2**64 - 1)
    return least if r <= least else most if r >= most else int(r)


@unittest.skipUnless(np, "needs numpy")
class Updates(unittest.TestCase):
    def on(self, device):
        q.destroy()
        try:
            q.init(device)
        except q.QuasarError as e:
            self.skipTest(str(e))
        q.compile_string("exact", programs())

    def compare(self, dtype, kind, way, sign, x, v, positions):
        want = list(x)
        for k, i in enumerate(positions):
            number = v if np.ndim(v) == 0 else v[i] if len(v) == len(x) else v[k]
            want[i] = updated(dtype, sign, x[i], number if isinstance(number, float) else number.item()
                              if hasattr(number, "item") else number)
        z = np.array(x, dtype)
        getattr(q, "%s_%s_%s" % (kind, way, NAMES[sign]))(z, v)
        self.assertEqual(z.tolist(), want, "%s of %s, %s, %s by %r" % (way, dtype, x, sign, v))

    def ways(self, device, ways):
        compiled = [w for w in ways if w[0] in ("kernel", "typed", "mask", "loop")]
        return 4 * ways if device == "cpu" else 2 * compiled

    def numbers(self, rng):
        return rng.choice([0, 1, 2, 3, 7, -1, -2, 1000003, 2**31, 2**40 + 1, -2**52, 2**60, 0.5, 2.75, -1.5])

    def test_by_a_number(self):
        for device in DEVICES:
            with self.subTest(device):
                self.on(device)
                rng = random.Random(SEED)
                for way, _, positions in self.ways(device, WAYS):
                    for dtype in EDGES:
                        sign, v = rng.choice(list(NAMES)), float(self.numbers(rng))
                        if way == "typed" and float(np.float32(v)) != v:
                            continue
                        self.compare(dtype, "one", way, sign, values(rng, dtype, 6), v, positions)

    def test_by_elements(self):
        for device in DEVICES:
            with self.subTest(device):
                self.on(device)
                rng = random.Random(SEED)
                for way, _, positions in self.ways(device, MANY):
                    for dtype in EDGES:
                        other = rng.choice(["float64", "float32", "int32", "uint8", dtype])
                        n = 6 if way in ("whole", "loop", "kernel") else len(positions)
                        v = [self.numbers(rng) for _ in range(n)]
                        if other in ("int32", "uint8"):
                            v = [abs(int(x)) % 100 for x in v]
                        elif other == dtype:
                            v = values(rng, dtype, n)
                            if way == "loop":  # a single element beyond is a double
                                v = [min(x, 2**63 - 1) for x in v]
                        elif other == "float32":
                            v = [float(np.float32(x)) for x in v]
                        self.compare(dtype, "many", way, rng.choice(list(NAMES)), values(rng, dtype, 6),
                                     np.array(v, other), positions)

    def test_in_python(self):
        self.on("cpu")
        rng = random.Random(SEED)
        for _ in range(60):
            for dtype in EDGES:
                x, n = values(rng, dtype, 4), rng.randint(0, 9)
                x[1] //= 2  # a single element does not wrap
                z = q.value(np.array(x, dtype))
                z[1] += n
                z[2:4] -= n
                z += 1
                want = [wrapped(dtype, x[0] + 1), wrapped(dtype, x[1] + n + 1)]
                want += [wrapped(dtype, k - n + 1) for k in x[2:]]
                self.assertEqual(np.asarray(z).tolist(), want)


@unittest.skipUnless(np, "needs numpy")
class Functions(unittest.TestCase):
    """Functions that compare, choose, reduce and move 64-bit integers."""
    def setUp(self):
        q.destroy()
        q.init("cpu")
        self.rng = random.Random(SEED)

    def each(self, times=40):
        for _ in range(times):
            for dtype in EDGES:
                yield dtype, values(self.rng, dtype, 9)

    def test_order(self):
        for dtype, x in self.each():
            a = np.array(x, dtype)
            self.assertEqual(np.asarray(q.sort(a)).tolist(), sorted(x))
            self.assertEqual(np.asarray(q.unique(a)).tolist(), sorted(set(x)))
            self.assertEqual((int(np.asarray(q.max(a))), int(np.asarray(q.min(a)))) if dtype == "int64" else (0, 0),
                             (max(x), min(x)) if dtype == "int64" else (0, 0))
            k = x[3]
            if k < 2**63:
                self.assertEqual((np.asarray(q.value(a) == k) != 0).tolist(), [v == k for v in x])
                self.assertEqual((np.asarray(q.value(a) > k) != 0).tolist(), [v > k for v in x])

    def test_sets(self):
        for dtype, x in self.each():
            y = values(self.rng, "int64", 6) + [float(self.rng.choice(EDGES[dtype])) for _ in range(3)]
            for b in (np.array([int(v) for v in y if -2**63 <= v < 2**63], np.int64), np.array(y, np.float64),
                      np.array([abs(int(v)) for v in y if abs(v) < 2**64], np.uint64)):
                a, other = np.array(x, dtype), [v for v in b.tolist()]
                self.assertEqual((np.asarray(q.ismember(a, b)) != 0).tolist(), [v in other for v in x], (a, b))
                self.assertEqual((np.asarray(q.ismember(b, a)) != 0).tolist(), [v in x for v in other], (a, b))
                self.assertEqual(np.asarray(q.intersect(a, b)).tolist(), sorted({v for v in x if v in other}), (a, b))
                self.assertEqual(np.asarray(q.setdiff(a, b)).tolist(), sorted({v for v in x if v not in other}), (a, b))

    def test_sums(self):
        for dtype, x in self.each():
            small = [v // 16 for v in x] if dtype == "int64" else [v // 64 for v in x]
            a = np.array(small, dtype)
            if abs(sum(small)) < 2**63 and dtype == "int64":
                self.assertEqual(q.sum(a), sum(small))
                self.assertEqual(np.asarray(q.cumsum(a)).tolist(), np.cumsum(a).tolist())
            m = self.rng.randint(1, 9)
            self.assertEqual(np.asarray(q.mod(np.array(x, dtype), m)).tolist(), [v % m for v in x])

    def test_files_and_text(self):
        with tempfile.TemporaryDirectory() as folder:
            for dtype, x in self.each(3):
                a = np.array(x, dtype)
                q.save(folder + "/x.npy", a)
                back = np.asarray(q.load(folder + "/x.npy"))
                self.assertEqual((back.dtype, back.tolist()), (np.dtype(dtype), x))
                self.assertEqual(q.jsonencode(a), "[" + ",".join(map(str, x)) + "]")


if __name__ == "__main__":
    unittest.main()
