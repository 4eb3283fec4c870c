"""import pyquasar: whatever memory comes, it is used in place, copied where documented, or refused; never wrong."""
import array, ctypes, gc, os, subprocess, sys, tempfile, textwrap, threading, unittest

import pyquasar as q
from optional import library

np, torch = library("numpy"), library("torch")

try:
    from hypothesis import given, settings, strategies as st
except ImportError:
    given = None

NUMBERS = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
           "float64", "complex64", "complex128"]
OTHERS = [">f4", ">i8", "longdouble", "M8[s]", "U3", "f4,i4", "O"]


def goes_back(a):
    return any(n > 1 and s < 0 for n, s in zip(a.shape, a.strides))


def address(a):
    return a.__array_interface__["data"][0]


class Described:
    """Nothing but a description of memory."""

    def __init__(self, a):
        self.owner, self.__array_interface__ = a, a.__array_interface__


class Tensor:
    """Nothing but DLPack, of a library from before there were versions, or of a later one."""

    def __init__(self, a, versioned):
        self.a, self.versioned = a, versioned

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        if options and not self.versioned:
            raise TypeError("unexpected keyword argument")
        return self.a.__dlpack__(**options)


if np:
    class Derived(np.ndarray):
        pass


class Exchange(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        q.destroy()
        q.init("cpu")
        m = q.compile_string("exchange", """
            function y = same(x)
                y = x
            end
            function [] = store(x, v)
                x[0] = v
            end
            function [] = __kernel__ add_to(x : vec, y : vec, pos : int)
                y[pos] += x[pos]
            end
            function [] = __kernel__ none(a, b, c, d, e, pos : int)
            end
            function y = square(x, k : scalar)
                y = k*x.*x
            end
            function g = square_back(grad, x, k : scalar)
                g = 2*k*x.*grad
            end""")
        cls.same, cls.store = staticmethod(m.same), staticmethod(m.store)


if given and np:
    layouts = st.lists(st.sampled_from(["transpose", "step", "reverse", "slice", "stretch", "new", "one", "empty"]),
                       max_size=3)

    @st.composite
    def arrays(draw):
        """An array of any type, layout and permission; of numbers mostly."""
        dtype = np.dtype(draw(st.sampled_from(NUMBERS * 2 + OTHERS)))
        shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
        n = int(np.prod(shape, dtype=int))
        where = draw(st.sampled_from(["own", "own", "own", "odd", "field"]))
        values = (np.arange(1, n + 1) % 2 if dtype.kind == "b" else np.arange(1, n + 1)).reshape(shape)
        if where == "odd" and dtype.kind != "O":
            a = np.zeros(n * dtype.itemsize + 1, np.uint8)[1:].view(dtype).reshape(shape)
        elif where == "field":
            a = np.zeros(shape, [("a", "u1"), ("x", dtype), ("b", "u2")])["x"]
        else:
            a = np.zeros(shape, dtype)
        if dtype.kind == "V":
            a["f0"] = values
        else:
            a[...] = values.astype(dtype)
        for step in draw(layouts):
            a = {"transpose": lambda: a.T, "step": lambda: a[::2] if a.ndim else a,
                 "reverse": lambda: a[..., ::-1] if a.ndim else a,
                 "slice": lambda: a[..., 1:] if a.ndim else a, "new": lambda: a[None] if a.ndim < 6 else a,
                 "stretch": lambda: np.broadcast_to(a, (2,) + a.shape) if a.ndim < 6 else a,
                 "one": lambda: a[:1] if a.ndim else a, "empty": lambda: a[:0] if a.ndim else a}[step]()
        if draw(st.booleans()):
            a = a.view()
            a.flags.writeable = False
        return a

    @unittest.skipUnless(given and np, "needs numpy and hypothesis")
    class EveryCase(Exchange):
        def numbers(self, a):
            return a.dtype.isnative and a.dtype.name in NUMBERS

        def in_place(self, a):
            steps = all(s % a.itemsize == 0 for s, n in zip(a.strides, a.shape) if n > 1)
            return self.numbers(a) and (a.size == 0 or a.flags.aligned and steps)

        def check_shared(self, v, a, case):
            """v is an array of exactly a's memory, with its permission."""
            got = np.asarray(v)
            self.assertEqual((v.shape, v.dtype, got.dtype), (a.shape, a.dtype.name, a.dtype), case)
            np.testing.assert_array_equal(got, a, case)
            self.assertEqual(v.readonly, not a.flags.writeable, case)
            if a.size:
                self.assertEqual(address(got), address(a), case)
                moves = [(s, g) for s, g, n in zip(a.strides, got.strides, a.shape) if n > 1]
                self.assertTrue(all(s == g for s, g in moves), case)
                if a.flags.writeable:
                    v[(0,) * a.ndim] = 0
                    self.assertEqual(a[(0,) * a.ndim], 0, case)
                else:
                    with self.assertRaises(q.QuasarError):
                        v[(0,) * a.ndim] = 0

        def check_number(self, v, a, case):
            self.assertEqual(v, a.item(), case)

        def producers(self, a):
            yield "ndarray", a
            yield "derived", a.view(Derived)
            yield "described", Described(a)
            if self.numbers(a):
                yield "memoryview", memoryview(a)
                if a.flags.writeable:
                    yield "plain tensor", Tensor(a, False)
                yield "versioned tensor", Tensor(a, True)
            plain = all(s >= 0 and s % a.itemsize == 0 for s in a.strides) and a.flags.writeable and a.size
            if torch and self.in_place(a) and plain:
                yield "torch", torch.from_numpy(a)

        @settings(max_examples=400, deadline=None, derandomize=True)
        @given(arrays())
        def test_an_argument_is_used_in_place_or_refused(self, a):
            for name, x in self.producers(a):
                case = "%s %s %s %s" % (name, a.dtype, a.shape, a.strides)
                try:
                    v = self.same(x)
                except TypeError as e:
                    self.assertIn("argument x", str(e), case)
                    self.assertFalse(name == "ndarray" and self.in_place(a), (case, e))
                    continue
                if v is x:  # nothing that the language computes with: the very object
                    self.assertFalse(self.numbers(a), case)
                elif a.ndim == 0 and name != "described":
                    self.check_number(v, a, case)
                elif a.ndim == 0:
                    self.assertTrue(v == a.item(), case)
                else:
                    self.assertTrue(self.in_place(a), case)
                    self.check_shared(v, a, case)

        @settings(max_examples=400, deadline=None, derandomize=True)
        @given(arrays())
        def test_value_copies_only_what_cannot_lie_as_it_is(self, a):
            for name, x in self.producers(a):
                case = "%s %s %s %s" % (name, a.dtype, a.shape, a.strides)
                try:
                    v = q.value(x)
                except (TypeError, BufferError, q.QuasarError):
                    self.assertFalse(a.dtype.newbyteorder("=").name in NUMBERS and name == "ndarray", case)
                    continue
                if a.dtype.newbyteorder("=").name not in NUMBERS:
                    self.assertNotEqual(v._kind, "array", case)  # text and structures become cells
                elif a.ndim == 0:
                    self.check_number(v, a, case)
                elif self.in_place(a):
                    self.check_shared(v, a, case)
                else:
                    np.testing.assert_array_equal(np.asarray(v), a, case)
                    self.assertEqual(np.asarray(v).dtype, a.dtype.newbyteorder("="), case)

        @settings(max_examples=200, deadline=None, derandomize=True)
        @given(arrays(), st.sampled_from([None, True, False, 1, 0, np.True_, np.False_]))
        def test_copy_means_what_it_says(self, a, copy):
            try:
                v = q.from_numpy(a, copy=copy)
            except TypeError:
                self.assertNotIn(a.dtype.newbyteorder("=").name, NUMBERS)
                return
            except ValueError:
                self.assertFalse(copy is None or copy)
                self.assertFalse(self.in_place(a) and a.ndim)
                return
            if v._kind != "array":
                return
            got = np.asarray(v)
            np.testing.assert_array_equal(got, a)
            if a.size:
                self.assertEqual(np.shares_memory(got, a), self.in_place(a) and not copy)
            if copy is not None and not copy:
                self.assertTrue(self.in_place(a))

        @settings(max_examples=200, deadline=None, derandomize=True)
        @given(arrays())
        def test_everybody_reads_what_is_given(self, a):
            if not self.in_place(a) or not a.ndim:
                return
            v = q.value(a)
            readers = {"asarray": np.asarray, "to_numpy": lambda v: v.to_numpy(), "from_dlpack": np.from_dlpack,
                       "memoryview": lambda v: np.asarray(memoryview(v)),
                       "interface": lambda v: np.asarray(Described(v)),
                       "capsule": lambda v: np.asarray(q.from_dlpack(v.__dlpack__(max_version=(1, 0)))),
                       "old capsule": lambda v: np.asarray(q.from_dlpack(v.__dlpack__()))}
            if torch and a.dtype.name not in ("uint16", "uint32", "uint64") and a.flags.writeable:
                readers["torch"] = lambda v: v.to_torch().numpy()
            for name, read in readers.items():
                if name in ("torch", "from_dlpack", "capsule", "old capsule") and goes_back(a):
                    self.assertRaises(BufferError, read, v)  # no tensor has negative strides
                    continue
                if name == "old capsule" and not a.flags.writeable:
                    self.assertRaises(BufferError, read, v)
                    continue
                b = read(v)
                case = "%s %s %s" % (name, a.dtype, a.strides)
                np.testing.assert_array_equal(b, a, case)
                if a.size:
                    self.assertEqual(address(b), address(a), case)
                    self.assertFalse(b.flags.writeable and not a.flags.writeable, case)
            copied = np.from_dlpack(v, copy=True)
            np.testing.assert_array_equal(copied, a)
            self.assertFalse(a.size and np.shares_memory(copied, a))
else:
    class EveryCase(unittest.TestCase):
        @unittest.skip("needs numpy and hypothesis")
        def test_an_argument_is_used_in_place_or_refused(self):
            pass


class Overlaps(Exchange):
    """An operand that is other elements of the memory that changes is read as it was before."""

    OPERATORS = {"+=": "add", "-=": "subtract", ".*=": "multiply", "./=": "divide"}
    VIEWS = {"shifted": lambda x: (x[0, :-1], x[0, 1:]), "rows": lambda x: (x[:-1], x[1:]),
             "columns": lambda x: (x[:, :-7], x[:, 7:]), "corner": lambda x: (x[:-1, 1:], x[1:, :-1]),
             "reversed": lambda x: (x[::-1, ::-1], x), "same": lambda x: (x, x)}

    @unittest.skipUnless(np, "needs numpy")
    def test_operators_that_assign(self):
        functions = "".join(f"function [] = {name}(a, b)\nb {op} a\nend\n" for op, name in self.OPERATORS.items())
        for device in "cpu", "ref":
            q.destroy()
            q.init(device)
            m = q.compile_string("overlaps", functions)
            for name in self.OPERATORS.values():
                for where, views in self.VIEWS.items():
                    for order in 1, -1:
                        x, y = ((np.arange(200 * 300) % 7 + 1).astype("f4").reshape(200, 300) for _ in range(2))
                        a, b = views(x)[::order]
                        getattr(m, name)(a, b)
                        a, b = views(y)[::order]
                        getattr(np, name)(b, a.copy(), out=b)
                        self.assertTrue(np.array_equal(x, y), (device, name, where, order))

    @unittest.skipUnless(np, "needs numpy")
    def test_kernels_write_to_all_views_of_one_array(self):
        text = """
            function [] = split(a, b, c)
              function [] = __kernel__ part(a, b, c, pos : int)
                a[pos] = c[pos] + 1
                b[pos] += c[pos] + 100
              end
              parallel_do(numel(c), a, b, c, part)
            end"""
        views = {"turns": lambda x: (x[::2], x[1::2]), "back": lambda x: (x[::2], x[::-2]),
                 "halves": lambda x: (x[:6], x[6:]), "laps": lambda x: (x[:8:2], x[3::2][:4]),
                 "columns": lambda x: (x.reshape(4, 3)[:, 0], x.reshape(4, 3)[:, 2]),
                 "types": lambda x: (x[:8].view("i4")[::2], x[:8].view("f4")[1::2])}
        for device in "cpu", "opencl":
            q.destroy()
            try:
                q.init(device)
            except q.QuasarError:
                continue
            m = q.compile_string("split", text)
            for name, views_of in views.items():
                got, wanted = (np.arange(12, dtype="f4") for _ in range(2))
                for x, f in (got, m.split), (wanted, self.split):
                    a, b = views_of(x)
                    f(a, b, np.arange(a.size, dtype="f4"))
                self.assertTrue(np.array_equal(got, wanted), (device, name, got, wanted))

    @unittest.skipUnless(np, "needs numpy")
    def test_expressions_and_loops_see_all_views_of_one_array(self):
        text = """
            function y = mixed(a, b)
              y = a.*b + 2*a
            end
            function [] = fill(a, b)
              for i = 0..numel(b)-1
                a[i] = 0.5*b[i] + i
              end
            end"""
        n = 200000
        views = {"itself": lambda x: (x, x), "next": lambda x: (x[1:], x[:-1]), "back": lambda x: (x[:-1], x[1:]),
                 "turned": lambda x: (x, x[::-1]), "halves": lambda x: (x[:n//2], x[n//2:])}
        for device in "cpu", "opencl":
            q.destroy()
            try:
                q.init(device)
            except q.QuasarError:
                continue
            m = q.compile_string("views", text)
            for name, views_of in views.items():
                got, wanted = (np.linspace(0, 1, n) for _ in range(2))
                a, b = views_of(wanted)
                for _ in range(8):  # some of these times it is machine code
                    self.assertTrue(np.allclose(np.asarray(m.mixed(*views_of(got))), a*b + 2*a), (device, name))
                    m.fill(*views_of(got))
                    self.fill(a, b)
                self.assertTrue(np.allclose(got, wanted), (device, name))

    def fill(self, a, b):
        """In order, as the program says: an element may have been written some turns before it is read."""
        if not np.shares_memory(a, b):
            a[...] = 0.5*b + np.arange(b.size)
            return
        x, y = memoryview(a), memoryview(b)
        for i in range(b.size):
            x[i] = 0.5*y[i] + i

    def split(self, a, b, c):
        a[...], b[...] = c + 1, b + c + 100

    @unittest.skipUnless(np, "needs numpy")
    def test_truth_is_any_byte_but_zero(self):
        m = q.compile_string("truths", "".join(f"function y = {name}(a, b)\ny = {text}\nend\n" for name, text in (
            ("total", "sum(a)"), ("both", "a && b"), ("either", "a || b"), ("apart", "xor(a, b)"), ("same", "a == b"),
            ("number", "a + 0"), ("every", "all(a)"), ("some", "any(a)"), ("columns", "all([a,b], 0)"),
            ("opposite", "!a"), ("chosen", "b[a]"), ("sorted", "sort(a)"), ("highest", "max(a)"))))
        for n in 5, 5000:
            odd, b = (np.resize(np.array(x, np.uint8), n).view(bool) for x in ([2, 1, 0, 255, 4], [1, 0, 0, 1, 1]))
            plain = np.array([x != 0 for x in odd.view(np.uint8)])
            for name in dir(m):
                f = getattr(m, name)
                got, wanted = (np.asarray(f(a, b)) + 0 for a in (odd, plain))
                self.assertTrue(np.array_equal(got, wanted), (name, n, got, wanted))

    @unittest.skipUnless(np, "needs numpy")
    def test_masks_in_the_memory_that_they_choose_from(self):
        m = q.compile_string("masks", "function [] = put(a, m, v)\na[m] = v\nend\n")
        for v in False, True:
            for views in (lambda x: (x, x[::-1])), (lambda x: (x[1:], x[:-1])), (lambda x: (x[:-1], x[1:])):
                x, y = (np.array([1, 1, 0, 1, 0, 0, 1, 1], bool) for _ in range(2))
                m.put(*views(x), v)
                a, mask = views(y)
                a[mask.copy()] = v
                self.assertTrue(np.array_equal(x, y), (v, x, y))


class Producers(Exchange):
    def test_buffers_of_python(self):
        pair = ctypes.c_float * 2
        for x, shape, dtype in ((array.array("d", [1, 2]), (2,), "float64"), (bytearray(b"ab"), (2,), "uint8"),
                                (pair(1, 2), (2,), "float32"), ((pair * 3)(), (3, 2), "float32"),
                                ((pair * 0)(), (0, 2), "float32"),
                                (memoryview(array.array("i", range(6)))[::2], (3,), "int32")):
            v = self.same(x)
            self.assertEqual((v.shape, v.dtype), (shape, dtype))
            if v.size and v.ndim == 1:
                self.store(x, 7)
                self.assertEqual(x[0], 7)
        self.assertEqual(self.same(memoryview(b"ab")).readonly, True)

    @unittest.skipUnless(np, "needs numpy")
    def test_what_has_elements_that_do_not_count_is_refused(self):
        a = np.ma.array([1.0, 2, 3], mask=[0, 1, 0])
        for use in (self.same, q.value, q.descriptor):
            with self.assertRaisesRegex(TypeError, "masked array; x.filled"):
                use(a)
        self.assertEqual(self.same(a.filled(0)).tolist(), [1, 0, 3])

    @unittest.skipUnless(np, "needs numpy")
    def test_arrays_of_anything_else_stay_pythons(self):
        for a in (np.array(["a"]), np.array([1, "a"], object), np.zeros(2, "f4,i4"), np.char.array(["a"]),
                  np.zeros(2, "M8[s]")):
            self.assertIs(self.same(a), a)

    @unittest.skipUnless(np and torch, "needs numpy and torch")
    def test_elements_that_numpy_lacks(self):
        t = torch.tensor([1.5, 2], dtype=torch.bfloat16)
        v = q.from_torch(t)
        self.assertEqual(np.asarray(v).tolist(), [1.5, 2])  # a copy in float32
        self.assertEqual(np.asarray(v).dtype, np.float32)
        for no_copy in (lambda: v.to_numpy(copy=False), lambda: v.__array__(copy=False)):
            self.assertRaises(ValueError, no_copy)
        self.assertFalse(hasattr(v, "__array_interface__"))
        self.assertRaises((BufferError, q.QuasarError), memoryview, v)
        v[0] = 8
        self.assertEqual((t[0].item(), v.to_torch().dtype), (8, torch.bfloat16))

    def test_memory_of_a_gpu_is_refused(self):
        class There:
            __cuda_array_interface__ = {"shape": (3,), "typestr": "<f4", "data": (16, False), "version": 3}
        with self.assertRaisesRegex(TypeError, "argument x: the elements are on cuda, and memory of the cpu is wanted"):
            self.same(There())
        self.assertFalse(hasattr(q.zeros(3), "__cuda_array_interface__"))
        for f in (q.stream, q.stream_from_torch, q.stream_to_torch):
            with self.assertRaisesRegex(RuntimeError, "no cuda device is open"):
                f(0)

    @unittest.skipUnless(np, "needs numpy")
    def test_elements_of_several_numbers(self):
        self.assertEqual(q.from_numpy(np.zeros((4, 3)), dtype="vec3").shape, (4, 3))
        self.assertEqual(q.from_numpy(np.zeros((4, 2, 3))[::2], dtype="mat2x3").shape, (2, 2, 3))
        for a, dtype, kind, why in ((np.zeros((4, 3)), "vec2", ValueError,
                                     r"ends with dimensions \(2,\), got \(4, 3\)"),
                                    (np.zeros((3, 4)).T, "vec3", ValueError, "one behind the other"),
                                    (np.zeros(4), "float32", TypeError, "float32 are wanted, got float64")):
            with self.assertRaisesRegex(kind, why):
                q.from_numpy(a, dtype=dtype)

    @unittest.skipUnless(np, "needs numpy")
    def test_a_descriptor_serves_many_calls(self):
        x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
        dx, dy = q.descriptor(x), q.descriptor(y)
        for i in range(3):
            q.parallel_do(4, dx, dy, q.add_to)
        self.assertEqual(y.tolist(), [3] * 4)
        for x, why in (({}, "dict.* has no memory"), (np.zeros(2, ">f4"), "byte order")):
            with self.assertRaisesRegex(TypeError, why):
                q.descriptor(x)

    def test_what_works_element_by_element_keeps_the_shape(self):
        q.compile_string("shapes", """
            function y = squared(x)
                y = x.*x
            end
            function y = several(x, z)
                y = sin(x).*x + 2*z - x./(1 + abs(z))
            end
            """)
        maps = [q.squared, q.sin, q.isnan, q.copy, q.float64, q.zeros_like, q.cumsum, lambda x: q.max(x, 0),
                lambda x: q.atan2(x, x), lambda x: x * 2, lambda x: -x, lambda x: x > 0, lambda x: q.several(x, x),
                lambda x: x + q.value(1.0), lambda x: q.clamp(x, 0, 1), lambda x: q.sort(x)]
        for shape in ((4, 4, 1), (1, 3), (2, 3, 1), (1, 1), (1, 1, 1), (1,), (5, 1), (1, 3, 1), (0, 1)):
            v = q.value(np.ones(shape, np.float32))
            for i, f in enumerate(maps):
                self.assertEqual(f(v).shape, shape, i)
        for n in (3, 100000):  # by the operators, and as a kernel, once it is worth compiling
            row, column, one = (q.value(np.ones(s, np.float32)) for s in ((1, n), (n, 1), (1, 1)))
            stretched = [(row, one, (1, n)), (row, q.ones(n), (1, n)), (one, q.ones(n), (1, n)), (column, one, (n, 1))]
            for x, y, shape in stretched:
                for a, b in ((x, y), (y, x)):
                    self.assertEqual({q.several(a, b).shape for _ in range(10)}, {shape})
        self.assertEqual(q.several(row[:, :3], column[:2]).shape, (2, 3))
        self.assertEqual((q.sum(column, 0).shape, q.zeros(1, 3).shape, q.diff(row).shape), ((1, 1), (1, 3), (1, n - 1)))

    def test_advice_that_helps(self):
        for a, advised in ((np.zeros((1,) * 9), False), (np.zeros(2, "longdouble"), False), (np.zeros(2, ">f4"), True)):
            with self.assertRaises(TypeError) as failed:
                self.same(a)
            self.assertEqual("value(x) makes a copy" in str(failed.exception), advised, failed.exception)
            if advised:
                self.same(q.value(a))

    def test_tensors_are_operands(self):
        v, t = q.value([1, 2]), Tensor(np.full(2, 3, np.float32), True)
        for got, wanted in ((v + t, [4, 5]), (t - v, [2, 1]), (v * t, [3, 6]), (t / v, [3, 1.5]), (v < t, [1, 1])):
            self.assertEqual(got.tolist(), wanted)
        self.assertEqual(v @ t, 9)
        v += t
        self.assertEqual(v.tolist(), [4, 5])
        self.assertIs(v == Tensor, False)
        if torch:
            self.assertEqual(((torch.ones(2) + v).tolist(), (v - torch.ones(2)).tolist()), ([5, 6], [3, 4]))

    def test_files_keep_the_shape(self):
        with tempfile.TemporaryDirectory() as folder:
            file, again = os.path.join(folder, "a.npy"), os.path.join(folder, "b.npy")
            for shape in ((2, 3, 1), (1, 3), (1, 1)):
                for order in "CF":
                    a = np.asarray(np.arange(np.prod(shape)).reshape(shape), np.float32, order)
                    np.save(file, a)
                    q.save(again, q.load(file))
                    np.testing.assert_array_equal(np.load(again), a, strict=True)

    def test_copy_is_true_or_false_of_any_type(self):
        v = q.ones(3)
        for copy in (None, True, False, 1, 0, np.True_, np.False_):
            shared = np.shares_memory(np.asarray(q.from_dlpack(v.__dlpack__(copy=copy))), np.asarray(v))
            self.assertEqual(shared, not copy, copy)
            for must in (lambda: v.__array__("float64", copy=copy), lambda: q.from_numpy(np.ones(3, ">f4"), copy=copy)):
                if copy is None or copy:
                    must()
                else:
                    self.assertRaises(ValueError, must)
        with self.assertRaisesRegex(ValueError, "ambiguous"):
            v.__dlpack__(copy=np.ones(2))

    def test_a_producer_that_says_nonsense_of_its_device(self):
        for said in (None, 1, [1, 0], (1,), ("cpu", 0), (1, 0, 0)):
            x = Tensor(np.ones(3), True)
            x.__class__ = type("Odd", (Tensor,), {"__dlpack_device__": lambda self: said})
            with self.assertRaisesRegex(TypeError, "__dlpack_device__ must give two numbers"):
                q.from_dlpack(x)

    def test_nothing_is_kept_when_memory_runs_out(self):
        """Each allocation of Python fails once; at the end nobody holds what was exchanged."""
        try:
            import _testcapi as testing
        except ImportError:
            self.skipTest("needs _testcapi")
        a = np.ones(3)
        v = q.value(a)
        exchanges = (lambda: v.__dlpack__(), lambda: v.__dlpack__(max_version=(1, 0)),
                     lambda: q.from_dlpack(a), lambda: q.from_dlpack(v.__dlpack__()))
        for exchange in exchanges:
            exchange()
            held = sys.getrefcount(a)
            for n in range(1, 60):
                try:
                    testing.set_nomemory(n, n + 1)
                    exchange()
                except MemoryError:
                    pass
                finally:
                    testing.remove_mem_hooks()
                self.assertEqual(sys.getrefcount(a), held, n)
        del v
        self.assertEqual(sys.getrefcount(a), 2)

    def test_numbers_of_numpy(self):
        top, day = 2**64 - 1, np.datetime64("2020-01-01")
        v = q.value(np.array([top, 5], np.uint64))
        self.assertEqual((v[0], list(v), v.item(0), int(v[:1]), v[:1].item()), (top, [top, 5], top, top, top))
        for x in (np.uint64(top), np.array(top, np.uint64)):
            self.assertEqual((self.same(x), type(self.same(x))), (top, int))
        self.assertIs(self.same(day), day)
        for n in (2**63, 2**70, -2**63 - 1):
            self.assertEqual((int(q.value(n)), q.value([n])[0], self.same(q.value(n))), (n, n, n))
        kind = q.evaluate("x -> type(x)")
        for items, name in (([np.float32(1), 2], "vec"), ((np.int64(1), np.int8(3)), "vec"),
                            ([[np.bool_(1)]], "vec[bool]"),
                            ([np.complex64(1j), 1], "cvec"), ([np.zeros(2), np.ones(2)], "pyvalue"), ([day], "pyvalue"),
                            ([b"a"], "pyvalue"), ([np.str_("a")], "pyvalue"), ([np.longdouble(1)], "pyvalue")):
            self.assertEqual(kind(items), name, items)

    def test_a_producer_that_fails(self):
        class Broken:
            def __init__(self, error):
                self.error = error

            def __dlpack__(self, **options):
                raise self.error
        for error in (BufferError("no"), RuntimeError("gone\nand more"), KeyError("k")):
            with self.assertRaisesRegex(TypeError, "argument x: %s" % type(error).__name__):
                self.same(Broken(error))
            with self.assertRaises(type(error)):
                q.from_dlpack(Broken(error))
        with self.assertRaises(KeyboardInterrupt):
            self.same(Broken(KeyboardInterrupt()))
        for nonsense in (None, 3, "capsule"):
            class Odd:
                def __dlpack__(self, **options):
                    return nonsense
            self.assertRaises(TypeError, self.same, Odd())


@unittest.skipUnless(torch, "needs torch")
class Gradients(Exchange):
    def test_they_travel(self):
        t = torch.arange(4.0, requires_grad=True)
        v = q.from_torch(t)
        self.assertEqual((v.requires_grad, v.grad.tolist(), t.grad.tolist()), (True, [0] * 4, [0] * 4))
        (t * t).sum().backward()
        self.assertEqual(v.grad.tolist(), [0, 2, 4, 6])
        v.grad[0] = 9
        self.assertEqual(t.grad[0].item(), 9)
        back = v.to_torch()
        self.assertEqual((back.requires_grad, back.data_ptr(), back.grad.data_ptr()),
                         (True, t.data_ptr(), t.grad.data_ptr()))
        self.assertFalse(v.to_torch(requires_grad=False).requires_grad)
        self.assertIsNone(q.from_torch(t, requires_grad=False).grad)
        own = torch.ones(4)
        self.assertEqual(q.from_torch(torch.zeros(4), grad=own).grad.tolist(), [1] * 4)

    def test_what_a_gradient_must_be(self):
        v = q.zeros(2, 3)
        for grad, kind in ((q.zeros(3), ValueError), ([1], TypeError), (q.value("a"), TypeError)):
            with self.assertRaises(kind):
                v.grad = grad
        v.grad = q.ones(2, 3)
        v.grad = None
        self.assertFalse(v.requires_grad)
        v.grad = v  # a cycle is found
        gc.collect()

    def test_copies_of_tensors(self):
        v = q.ones(3)
        self.assertEqual(v.to_torch().data_ptr(), v.to_torch(device="cpu", copy=False).data_ptr())
        self.assertNotEqual(v.to_torch().data_ptr(), v.to_torch(copy=True).data_ptr())
        with self.assertRaisesRegex(ValueError, "a tensor on meta is a copy"):
            v.to_torch(device="meta", copy=False)
        fixed = q.value(memoryview(b"\1\2\3"))
        with self.assertRaisesRegex(ValueError, "read-only"):
            fixed.to_torch()
        self.assertEqual(fixed.to_torch(copy=True).tolist(), [1, 2, 3])
        for wrong in ([1, 2], torch.zeros(3), None):
            with self.assertRaisesRegex(TypeError, "an array of the language is wanted, got " + type(wrong).__name__):
                q.to_torch(wrong)

    def test_operators(self):
        op = q.torch_op(q.square, backward=lambda g, x, k: (q.square_back(g, x, k), None))
        x = torch.rand(5, dtype=torch.float64, requires_grad=True)
        self.assertTrue(torch.equal(op(x, 3.0), 3 * x * x))
        for again in range(2):
            self.assertTrue(torch.autograd.gradcheck(lambda x: op(x, 3.0), x))
        self.assertEqual(set(torch.library.opcheck(op, (x, 3.0)).values()), {"SUCCESS"})
        compiled = torch.compile(lambda x: op(x + 1, 2.0).sum(), fullgraph=True, backend="aot_eager")
        compiled(x).backward()
        self.assertTrue(torch.allclose(x.grad, 4 * (x + 1)))
        for shape in ((1, 3), (1, 1), (2, 3, 1), (1, 1, 1), (1,), ()):
            x = torch.rand(shape, dtype=torch.float64, requires_grad=True)
            self.assertTrue(torch.autograd.gradcheck(lambda x: op(x, 3.0), x), shape)
            self.assertEqual(op(x, 3.0).shape, x.shape)
        x = torch.rand(5, dtype=torch.float64, requires_grad=True)
        whole = q.torch_op(lambda x: q.sum(x), lambda g, x: q.ones_like(x) * g, lambda x: x.new_empty(()))
        self.assertTrue(torch.autograd.gradcheck(whole, x))
        twice = q.torch_op(self.same)  # its result is the memory of its argument, which no operator may give
        self.assertNotEqual(twice(x.detach()).data_ptr(), x.data_ptr())
        scale = q.torch_op(q.evaluate("(x, k) -> x*k"), lambda g, x, k: (g * k, (g * x).sum()))
        for k in (0.1, 3, True, torch.tensor(0.1, dtype=torch.float64)):
            self.assertTrue(torch.equal(scale(x, k), x * k), k)
        self.assertTrue(torch.equal(scale(x, k=0.1), x * 0.1))
        self.assertTrue(torch.autograd.gradcheck(lambda x: scale(x, 0.1), x))
        k = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(scale, (x, k)))
        compiled = torch.compile(lambda x: scale(x, 0.1), fullgraph=True, backend="aot_eager")
        self.assertTrue(torch.equal(compiled(x), x * 0.1))
        self.assertEqual(set(torch.library.opcheck(scale, (x, k)).values()), {"SUCCESS"})
        for few in ((), (x,), (x, "a"), (x, 1, 2)):
            self.assertRaises((RuntimeError, TypeError), scale, *few)
        wrong = q.torch_op(q.square, backward=lambda g, x, k: g)
        with self.assertRaisesRegex(TypeError, "2 gradients are wanted, one for each argument, got 1"):
            wrong(x, 1.0).sum().backward()


@unittest.skipUnless(np, "needs numpy")
class Life(Exchange):
    def test_nothing_is_kept(self):
        """A hundred thousand exchanges of each kind in a child whose memory is watched."""
        text = """
            import gc, os, sys
            import numpy as np, pyquasar as q
            try: import torch
            except ImportError: torch = None
            def resident():
                with open("/proc/self/statm") as f: return int(f.read().split()[1])*os.sysconf("SC_PAGE_SIZE")
            q.init("cpu")
            same = q.evaluate("x -> x")
            a, v, fixed = np.ones(100), q.ones(100), np.ones(100)
            fixed.flags.writeable = False
            class Old:
                def __dlpack__(self): return v.__dlpack__()
            old = Old()
            def refused():
                for x in (a.astype(">f8"), fixed):
                    try: same(x)[0] = 1
                    except TypeError: pass
                    except q.QuasarError: pass
            kinds = [lambda: q.value(a), lambda: same(a), lambda: np.asarray(v), lambda: memoryview(v),
                     lambda: v.__dlpack__(), lambda: q.from_dlpack(v.__dlpack__(max_version=(1, 0))),
                     lambda: q.from_dlpack(old), lambda: q.descriptor(a),
                     lambda: np.from_dlpack(v), refused]
            if torch:
                t = torch.ones(100, requires_grad=True)
                kinds += [lambda: same(t.detach()), lambda: torch.from_dlpack(v), lambda: q.from_torch(t).to_torch()]
            for f in kinds:
                for i in range(2000): f()
            gc.collect()
            before = resident()
            for f in kinds:
                for i in range(100000//len(kinds)): f()
            gc.collect()
            grown = resident() - before
            assert grown < 1 << 20, grown
            assert sys.getrefcount(a) == 2, sys.getrefcount(a)
            """
        r = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=120)
        self.assertEqual((r.returncode, r.stderr), (0, ""))

    def test_threads(self):
        errors = []

        def work(k):
            try:
                a = np.full(1000, k, np.float32)
                for i in range(300):
                    v = q.value(a)
                    w = np.asarray(v + 1) - 1
                    x = np.asarray(q.from_dlpack(v.__dlpack__()))
                    if w.sum() != 1000 * k or address(x) != address(a) or self.same(a).shape != (1000,):
                        raise AssertionError(k)
            except BaseException as e:
                errors.append(e)
        threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(errors, [])

    def test_capsules_and_views_outlive_everything(self):
        text = """
            import numpy as np, pyquasar as q, ctypes
            q.init("cpu")
            a = q.value([1, 2, 3])
            view, capsule, versioned = np.asarray(a), a.__dlpack__(), a.__dlpack__(max_version=(1, 0))
            late = np.from_dlpack(a)
            q.destroy()
            try: a.__dlpack__()
            except (q.QuasarError, BufferError): print("closed")
            q.init("cpu")
            b = q.from_dlpack(capsule)
            b += 1
            print(view, late, b, np.asarray(q.from_dlpack(versioned)))
            kept = [q.value(view), q.ones(3).__dlpack__(), np.asarray(q.ones(3)), a]
            """
        r = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=60)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertEqual(r.stdout, "closed\n[2. 3. 4.] [2. 3. 4.] [2,3,4] [2. 3. 4.]\n")

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_views_in_the_child_of_a_fork(self):
        text = """
            import os, warnings, numpy as np, pyquasar as q
            warnings.simplefilter("ignore", DeprecationWarning)  # of fork where there are threads
            q.init("cpu")
            a = q.ones(4)
            view, foreign = np.asarray(a), q.value(np.arange(4.0))
            if os.fork() == 0:
                view += 1
                print(view, flush=True)
                print(a, foreign, flush=True)
                q.destroy()
                del a, foreign
                q.init("cpu")
                print(q.value(view) + 1, flush=True)
                os._exit(0)
            assert os.wait()[1] == 0
            print(view, foreign)
            """
        r = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=60)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertEqual(r.stdout, "[2. 2. 2. 2.]\n[2,2,2,2] [0,1,2,3]\n[3,3,3,3]\n[1. 1. 1. 1.] [0,1,2,3]\n")


if __name__ == "__main__":
    unittest.main()
