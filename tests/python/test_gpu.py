"""import pyquasar: memory of a GPU.  Without one, against the recording fake of the driver (fake_gpu.py): their PTX
is executed, so results are right, but nothing is shown of a real GPU.  With one, against torch and CuPy.

    cd tests/python; export QUASAR_CUDA=BUILD/libptx_driver.so
    PYTHONPATH=BUILD/python FAKE_CUDA=$QUASAR_CUDA python3 -m unittest test_gpu"""
import gc, os, pickle, subprocess, sys, textwrap, traceback, types, unittest, unittest.mock

import pyquasar as q
from optional import library

try:
    import numpy as np
    fake = None
    if os.environ.get("FAKE_CUDA"):
        import fake_gpu as fake
except ImportError:
    np = fake = None
torch, cupy = library("torch"), library("cupy")
try:
    from hypothesis import given, settings, strategies as st
except ImportError:
    given = None

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
def text_of(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


needs_fake = unittest.skipUnless(fake, "needs NumPy and the fake driver, which make test names")
NUMBERS = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
           "float64", "complex64", "complex128"]
PROGRAM = """
    function y = same(x)
        y = x
    end
    function y = only_vec(x : vec)
        y = x
    end
    function [] = add_one(x)
        x += 1
    end
    function [] = __kernel__ square(x, y, pos : ivec2)
        y[pos[0],pos[1]] = x[pos[0],pos[1]]*x[pos[0],pos[1]]
    end
    function [] = __kernel__ inc(x : vec, pos : int)
        x[pos] += 1
    end
    function [] = twice(x, f)
        parallel_do(numel(x), x, inc)
        f()
        parallel_do(numel(x), x, inc)
    end
    function [] = each(...a)
        for x = a
            parallel_do(numel(x), x, inc)
        end
    end
    type holder : mutable class
        x : vec
    end"""


STEPS = {"step": np.s_[::2], "reverse": np.s_[..., ::-1], "slice": np.s_[..., 1:], "new": np.s_[None], "one": np.s_[:1],
         "empty": np.s_[:0]} if np else {}


def producers(a):
    """All that offer memory of a device."""
    yield fake.ByInterface(a)
    yield fake.ByDLPack(a)
    if a.flags.writeable:
        yield fake.ByOldDLPack(a)


@needs_fake
class Gpu(unittest.TestCase):
    device = "cuda"

    def setUp(self):
        q.destroy()
        q.init(self.device)
        q.compile_string("gpu", PROGRAM)
        self.since = fake.record.norders

    def tearDown(self):
        self.assertEqual((fake.record.misuse, fake.record.wrong), (0, b""))

    def orders(self):
        return fake.orders(self.since)


# Programs begin with it: moved(x) is on the device alone.
MOVED = """
    function [] = __kernel__ fill(y : vec, x : vec, pos : int)
        y[pos] = x[pos]
    end
    function y = moved(x)
        y = uninit_like(x, numel(x))
        parallel_do(numel(x), y, reshape(x, [1,numel(x)]), fill)
        y = reshape(y, size(x))
    end
"""


class Fault(Gpu):
    """Launches do not wait for kernels that may fail; a call does, before it returns."""
    text = """
        function [] = __kernel__ double(x : vec, y : vec, pos : int)
            assert(x[pos] > 0, "x must be positive")
            y[pos] = 2*x[pos]
        end
        function y = doubled(x, times)
            y = zeros(size(x))
            for k = 1..times
                parallel_do(numel(x), x, y, double)
            end
        end"""

    def setUp(self):
        super().setUp()
        q.compile_string("fault", self.text)

    def raises(self, f):
        try:
            f()
        except q.QuasarAssertionError as e:
            self.assertRegex(str(e), r"^x must be positive \(at position \[\d(,\d)?\]: 0 > 0 does not hold\)$")
            self.assertIn(("fault", 3), [(p.filename, p.lineno) for p in traceback.extract_tb(e.__traceback__)])
        else:
            self.fail("no error")

    def test_of_many_launches_each_is_heard_of(self):
        x = q.value(np.array([[1, 2, 3, 4]], np.float32))
        self.assertEqual(q.doubled(x, 300).tolist(), [[2, 4, 6, 8]])
        x[0, 2] = 0
        for times in (1, 2, 300):
            self.raises(lambda: q.doubled(x, times))
        x[0, 2] = 3
        self.assertEqual(q.doubled(x, 1).tolist(), [[2, 4, 6, 8]])

    def test_in_memory_of_numpy(self):
        x, y = np.array([1, 0, 3], np.float32), np.zeros(3, np.float32)
        self.raises(lambda: q.parallel_do(3, x, y, q.double))

    def test_in_memory_of_the_device(self):
        x, y = (fake.ByDLPack(np.array([1, 0, 3], np.float32)) for _ in "xy")
        self.raises(lambda: q.parallel_do(3, x, y, q.double))


class Stays(Gpu):
    """Arrays on a GPU are processed there: sums along dimensions, operators, layers and their gradients."""
    text = 'import "Quasar.DNN.dll"' + MOVED + """
        function d = pulled(f, x, dy)
            [y, pull] = vjp(f, x)
            d = pull(dy)
        end
        function y = sums(x)
            y = sum(x, 1) + mean(x, 1)./max(x, [], 1) - min(x, [], 1).*var(x, 1) + std(x, 1)
        end
        single = (x) -> {x + 1, -x, x.*x, abs(x), max(x, 0), x > 0}
        function y = in_place(x)
            y = copy(x)
            y += x
        end
        turned = x -> {permute(x, [1,0]), flip(x, 0), circshift(x, [1,2]), repmat(x, [2,2]), cat(0, x, x), [x,x]}
        places = x -> {x[2..9,:], x[:,[1,5,2]], x[7,:], put(x), x > 0 ? x : 0, float64(x), x[x > 0]}
        function y = put(x)
            y = copy(x)
            y[3..5,:] = x[0..2,:]
            y[:,[4,1]] = 7
            y[y < 0] = 0
        end
        running = x -> {cumsum(x, 0), cumprod(x, 1), cumsum(reshape(x, [1,numel(x)])), first(x)}
        function i = first(x)
            [m, i] = max(x, [], 1)
        end
        changed = (x, dy) -> pulled(x -> cumsum(permute(x, [1,0]), 0) + transpose(max(x, [], 0)), x, dy)
        labels = (x, c) -> pulled(x -> cross_entropy(x, int32(clamp(abs(c), 0, 2))), x, 1)
        all_of = x -> all(x < 9) && norm(x) > 0 && any(x > 0)
        norms = (x, g, dy) -> pulled(x -> batch_norm(x, g), x, dy)
        gains = (x, g, dy) -> pulled(g -> group_norm(x, 2, g), g, dy)
        rows = (x, g, dy) -> pulled(x -> softmax(layer_norm(x), 3), x, dy)
        pooled = (x, g, dy) -> pulled(x -> relu(max_pool2d(x, 3, 1, 1)), x, dy)
        means = (x, g, dy) -> {global_avg_pool2d(x), log_softmax(x, 1), mse_loss(x, dy)}
        biases = (w, b, x, dy) -> pulled(b -> conv2d(x, w, b, 1, 1), b, dy)
        weights = (w, b, x, dy) -> pulled(w -> conv2d(x, w, b, 1, 1), w, dy)"""

    def travels(self, name, *shapes):
        m, fresh = q.compile_string("stays", self.text), np.random.default_rng(1)
        f = getattr(m, name)
        for _ in range(2):  # code is made, weights of the module come
            args = [m.moved(q.value(fresh.standard_normal(s).astype("f4"))) for s in shapes]
            up, down = fake.record.uploaded, fake.record.downloaded
            y = f(*args)
        moved = fake.record.uploaded - up, fake.record.downloaded - down
        here = f(*(np.asarray(a) for a in args))  # by the host
        several = not np.isscalar(y) and np.asarray(y).dtype == object  # a list of arrays
        for a, b in zip(y, here) if several else [(y, here)]:
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=2e-4, atol=2e-5)
        return moved

    def test_arrays(self):
        for name in "sums", "single", "in_place", "turned", "running":
            with self.subTest(name):
                self.assertEqual(self.travels(name, (20, 30)), (0, 0))
        up, down = self.travels("places", (20, 30))
        self.assertLess(up, 100)  # numbers, and the lists of places
        self.assertEqual(down, 8)  # how many elements are chosen
        up, down = self.travels("changed", (20, 30), (30, 20))
        self.assertLess(up, 200)  # sizes
        self.assertEqual(down, 0)
        self.assertEqual(self.travels("all_of", (20, 30))[0], 0)
        self.assertLess(self.travels("all_of", (20, 30))[1], 20)

    def test_layers(self):
        """None of the arrays of 36 kB; sizes, numbers and zeros for statistics do."""
        x = 4, 4, 24, 24
        for name in "norms", "gains", "rows", "pooled", "means":
            with self.subTest(name):
                up, down = self.travels(name, x, (4,), x)
                self.assertLess(up, 12000)
                self.assertLess(down, 60)
        for name in "biases", "weights":
            with self.subTest(name):
                up, down = self.travels(name, (4, 4, 3, 3), (4,), x, x)
                self.assertLess(up, 12000)
                self.assertEqual(down, 0)


class Training(Gpu):
    """In examples/unet.q a training step transfers only the loss to the host."""

    def test_a_step(self):
        text = text_of("examples/unet.q")
        layers = text[:text.index("function [] = main()")].replace('import "denoise.q"', "")
        m = q.compile_string("unet", layers + MOVED + """
            function [net, state, e] = step(net, state, clean, noise)
                [e, g] = value_and_grad(loss, net, clean, noise)
                [net, state] = adam(net, g, state, 0.001)
            end""")
        fresh, state, net = np.random.default_rng(1), None, m.new_network(4, 3)
        clean, noise = (m.moved(q.value(fresh.standard_normal((2, 3, 16, 16)).astype("f4"))) for _ in "cn")
        losses = []
        for _ in range(3):  # code is made, weights come
            up, down = fake.record.uploaded, fake.record.downloaded
            net, state, e = m.step(net, state, clean, noise)
            losses.append(e)
        self.assertEqual(fake.record.downloaded - down, 8)
        self.assertLess(fake.record.uploaded - up, 16000)  # small tables, and the derivative of the loss: 6 kB
        self.assertLess(losses[2], losses[0])


class Table(Gpu):
    """docs/devices.md says which built-ins are computed where a GPU has the array, and which bring it to the host."""
    more = [(f, f"x -> {f}(x)", "A(3,4)") for f in ("any", "all", "find", "find_index_max", "find_index_min")]
    libraries = set("""fft1 fft2 fft3 ifft1 ifft2 ifft3 solve solve_back linsolve inv det logdet cond chol chol_ex qr
                       svd symeig eig pinv""".split())

    def downloaded(self, f, arguments):
        for _ in range(2):  # the code is made
            args = [self.move(q.value(a)) if getattr(a, "size", 1) > 1 else a for a in arguments()]
            down = fake.record.downloaded
            f(*args)
        return fake.record.downloaded - down

    def test_it_is_true(self):
        sys.path.insert(0, os.path.join(ROOT, "tests"))
        import adjoints
        known, lines = adjoints.rows(), {}
        for name, function, arguments in adjoints.cases() + self.more:
            if known.get(name, "ELEMENTS") != "ELEMENTS" and name not in self.libraries and "Z(" not in arguments:
                lines.setdefault(name, (function, arguments))
        text = text_of("tests/adjoints/setting.q") + Stays.text
        for k, (function, arguments) in enumerate(lines.values()):
            text += f"\nf{k} = {function}\narguments{k} = () -> {{{arguments}}}"
        m = q.compile_string("table", text)
        self.move = m.moved
        there, brought = [], []
        for k, name in enumerate(lines):
            down = self.downloaded(getattr(m, f"f{k}"), getattr(m, f"arguments{k}"))
            (brought if down > 8 else there).append(name)  # a number is a result, or says how large it is
        wanted = "".join(textwrap.fill(f"{what}: `{' '.join(sorted(names))}`", 128) + ".\n\n" for what, names in
                         (("Computed there", there), ("Brought to the host", brought)))
        said = text_of("docs/devices.md").split("<!-- built-ins: tests/python/test_gpu.py -->\n")[1]
        self.assertEqual(said.split("<!-- end -->")[0], wanted, f"docs/devices.md should say\n{wanted}")


class Convolutions(Gpu):
    """By cuDNN where its arrays may be so, by kernels where not; beside NumPy."""
    text = """
        import "Quasar.DNN.dll"
        layer = (x, w) -> conv2d(x, w)
        of_input = (dy, w) -> conv_planes_input(dy, w, [3,4,6,7], 1, 0, 1, 1)
        of_weights = (x, dy) -> conv_planes_weights(x, dy, [2,4,3,3], 1, 0, 1, 1)"""

    def definition(self, x, w):
        y = np.zeros((x.shape[0], w.shape[0], x.shape[2]-w.shape[2]+1, x.shape[3]-w.shape[3]+1))
        for i, j in np.ndindex(*w.shape[2:]):
            y += np.einsum("nchw,mc->nmhw", x[:, :, i:i+y.shape[2], j:j+y.shape[3]], w[:, :, i, j])
        return y

    def close(self, f, a, b, wanted):
        np.testing.assert_allclose(f(fake.ByInterface(a), fake.ByInterface(b)), wanted, 1e-4, 1e-4)

    def test_layouts(self):
        m, fresh = q.compile_string("convolutions", self.text), np.random.default_rng(1)
        x, w = (fresh.standard_normal(s).astype("f4") for s in ((3, 4, 6, 7), (2, 4, 3, 3)))
        wide, tall, late = (np.zeros(s, "f4") for s in ((3, 8, 6, 7), (3, 4, 6, 9), (505,)))
        wide[:, 2:6], tall[..., 1:8], late[1:] = x, x, x.ravel()
        y = self.definition(x, w)
        dy = fresh.standard_normal(y.shape).astype("f4")
        views = {"packed": x, "channels of images": wide[:, 2:6], "columns": tall[..., 1:8],
                 "not at 16 bytes": late[1:].reshape(x.shape), "channels last": np.ascontiguousarray(
                     x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2), "images twice": x[[1, 1, 1]],
                 "one image": np.broadcast_to(x[:1], x.shape)}
        for name, v in views.items():
            with self.subTest(name):
                self.close(m.layer, v, w, self.definition(v, w))
                dw = self.definition(v.transpose(1, 0, 2, 3), dy.transpose(1, 0, 2, 3)).transpose(1, 0, 2, 3)
                self.close(m.of_weights, v, dy, dw)
        self.close(m.layer, x, np.ascontiguousarray(w.transpose(0, 1, 3, 2)).transpose(0, 1, 3, 2), y)
        around = np.pad(dy, ((0, 0), (0, 0), (2, 2), (2, 2)))
        self.close(m.of_input, dy, w, self.definition(around, w.transpose(1, 0, 2, 3)[..., ::-1, ::-1]))


class In(Gpu):
    def test_it_is_the_same_memory(self):
        """A kernel on the device reads and writes it without any copy, in any layout."""
        for dtype in ("float32", "float64", "int32"):
            base = np.arange(48).reshape(6, 8).astype(dtype)
            for view in (base, base[::2], base[:, ::-1], base.T, base[1:4, 2:3], base[5:2:-1, ::3]):
                for x, y in zip(producers(view), producers(np.zeros_like(base)[tuple(map(slice, view.shape))]
                                                           if view.shape[0] <= 6 else np.zeros(view.shape, dtype))):
                    q.parallel_do(view.shape, x, y, q.square)
                    np.testing.assert_array_equal(y.get(), view * view)

    def test_nothing_is_copied(self):
        x = fake.ByDLPack(np.ones(1000, np.float32))
        q.parallel_do(1000, x, q.inc)  # the kernel is compiled, and what it needs allocated
        before = fake.record.allocated
        self.assertEqual(fake.copies(lambda: q.parallel_do(1000, x, q.inc)), 0)
        self.assertEqual((fake.record.allocated, fake.copies(lambda: q.add_one(x))), (before, 0))
        self.assertEqual(x.get()[0], 4)
        v = q.from_dlpack(x)
        self.assertEqual(v.__cuda_array_interface__["data"], (x.pointer, False))
        self.assertEqual(fake.read(v)[:2], ((2, 0), x.pointer))

    def test_functions_of_the_host_write_to_it(self):
        for x in producers(np.arange(6, dtype=np.float32)):
            q.add_one(x)
            self.assertEqual(x.get().tolist(), [1, 2, 3, 4, 5, 6])
            v = q.value(x)
            v[1:3] = 9
            v[[0, 5]] = 8
            v[v < 6] = 7
            v += 1
            self.assertEqual(x.get().tolist(), [9, 10, 10, 8, 8, 9])
            self.assertEqual(np.asarray(v).tolist(), x.get().tolist())

    def test_two_views_of_one_block(self):
        base = np.arange(8, dtype=np.float32)
        x = fake.ByDLPack(base)
        v = q.from_dlpack(x)
        w = q.from_dlpack(x)
        v[1:] = w[:-1]
        self.assertEqual(x.get().tolist(), [0, 0, 1, 2, 3, 4, 5, 6])

    def test_a_number(self):
        for x in producers(np.array(2.5)):
            self.assertEqual(q.only_vec(q.value([1]) + q.same(x)).tolist(), [3.5], type(x))

    def test_read_only_memory_is_not_written(self):
        a = np.ones(4, np.float32)
        a.flags.writeable = False
        for x in producers(a):
            self.assertTrue(q.value(x).readonly)
            with self.assertRaisesRegex(ValueError, "inc: x is read-only"):
                q.parallel_do(4, x, q.inc)
            with self.assertRaises(q.QuasarError):
                q.add_one(x)
            self.assertEqual(q.sum(x), 4)
            self.assertEqual(x.get().tolist(), [1] * 4)

    def test_a_wrong_type_is_named(self):
        with self.assertRaisesRegex(TypeError, "argument x must be vec, got cvec of size 1x3"):
            q.only_vec(fake.ByDLPack(np.zeros(3, np.complex64)))
        with self.assertRaisesRegex(TypeError, "argument x: .*<M8"):
            q.same(fake.ByInterface(np.zeros(3, "M8[s]")))
        with self.assertRaisesRegex(TypeError, "argument x: .*>f4"):
            q.same(fake.ByInterface(np.zeros(3, ">f4")))

    def test_a_mask_is_refused(self):
        x = fake.ByInterface(np.zeros(3, np.float32))
        x.mask = x
        with self.assertRaisesRegex((TypeError, NotImplementedError), "mask"):
            q.same(x)

    def test_stream_0_is_refused(self):
        with self.assertRaisesRegex((TypeError, ValueError), "stream 0 is not allowed"):
            q.same(fake.ByInterface(np.zeros(3, np.float32), stream=0))

    def test_a_description_that_cannot_be_is_refused(self):
        wrong = {"strides": [(4,), (8, 4, 4), ()], "data": [(0, False), (None, False)],
                 "stream": [-1, -2**63, 2**63, 2**64 - 1, 2**100], "shape": [(-2, 3), (2, -3)]}
        for key, x in [(k, x) for k, xs in wrong.items() for x in xs]:
            a = fake.ByInterface(np.zeros((2, 3), np.float32))
            said = dict(a.__cuda_array_interface__, **{key: x})
            described = type("Described", (), {"__cuda_array_interface__": said})()
            for take in (q.value, q.same):
                with self.assertRaises((TypeError, ValueError), msg=(key, x)):
                    take(described)
        for x in (1.5, "1"):
            with self.assertRaises(TypeError):
                q.value(type("Described", (), {"__cuda_array_interface__": dict(said, shape=(2, 3), stream=x)})())

    def test_memory_nobody_knows(self):
        x = fake.ByInterface(np.zeros(3, np.float32))
        x.offset = -x.block + 64
        with self.assertRaisesRegex(TypeError, "argument x: the address of the elements is not known to CUDA"):
            q.same(x)
        x.offset = 0

    def test_another_gpu(self):
        for x in producers(np.arange(3, dtype=np.float32)):
            x.__del__()
            x.__init__(np.arange(3, dtype=np.float32), device=1)
            why = (r'argument x: the elements are on cuda:1, and memory of the cpu or of cuda:0 is wanted; '
                   r'from_dlpack\(x, copy=True\) makes a copy, init\("cuda:1"\) uses them in place')
            with self.assertRaisesRegex(TypeError, why):
                q.same(x)
        x = fake.ByDLPack(np.arange(3, dtype=np.float32), device=1)
        v = q.from_dlpack(x, copy=True)
        self.assertEqual((v.tolist(), x.asked[-1]["dl_device"], x.asked[-1]["copy"]), ([0, 1, 2], (1, 0), True))
        with self.assertRaises(TypeError):
            q.from_dlpack(fake.ByOldDLPack(np.zeros(3), device=1), copy=True)

    def test_another_kind_of_device(self):
        class OpenCL(fake.ByDLPack):
            DEVICE_TYPE = 4
        why = "argument x: the elements are on opencl:0, and memory of the cpu or of cuda:0"
        with self.assertRaisesRegex(TypeError, why):
            q.same(OpenCL(np.zeros(3)))

        class Managed(fake.ByDLPack):
            DEVICE_TYPE = 13
        x = Managed(np.zeros(3, np.float32))
        q.parallel_do(3, x, q.inc)
        self.assertEqual(x.get().tolist(), [1] * 3)

    if given:
        @settings(max_examples=150, deadline=None, derandomize=True)
        @given(st.sampled_from(NUMBERS), st.lists(st.integers(0, 4), max_size=3), st.booleans(),
               st.lists(st.sampled_from(["transpose", *STEPS]), max_size=3))
        def test_every_type_and_layout(self, dtype, shape, writeable, layout):
            a = np.arange(1, 1 + int(np.prod(shape, dtype=int))).reshape(shape).astype(dtype)
            for step in layout:
                if a.ndim:
                    a = a.T if step == "transpose" else a[STEPS[step]]
            if not writeable:
                a = a.view()
                a.flags.writeable = False
            for x in producers(a):
                case = "%s %s %s %s" % (type(x).__name__, a.dtype, a.shape, a.strides)
                v = q.value(x)
                if not a.ndim:
                    self.assertEqual(v, a.item(), case)
                    continue
                self.assertEqual((v.shape, v.dtype, v.readonly), (a.shape, dtype, not writeable), case)
                self.assertEqual(v.__dlpack_device__(), (2, 0), case)
                np.testing.assert_array_equal(np.asarray(v), a, case)
                if any(n > 1 and s < 0 for n, s in zip(a.shape, a.strides)):
                    self.assertRaises(BufferError, fake.read, v, max_version=(1, 0), stream=-1)
                    continue
                where, pointer, elements = fake.read(v, max_version=(1, 0), stream=-1)
                self.assertEqual(where, (2, 0), case)
                np.testing.assert_array_equal(elements, a, case)
                d = v.__cuda_array_interface__
                if a.size:
                    self.assertEqual((pointer, d["data"]), (x.pointer, (x.pointer, not writeable)), case)
                again = q.value(fake_interface(v))
                np.testing.assert_array_equal(np.asarray(again), a, case)
                if a.size and writeable:
                    again[(0,) * a.ndim] = 0
                    self.assertEqual(x.get()[(0,) * a.ndim], 0, case)
                self.assertRaises(AttributeError, lambda: v.__array_interface__)


def fake_interface(v):
    class Described:
        owner, __cuda_array_interface__ = v, v.__cuda_array_interface__
    return Described()

    def test_results_that_do_not_come_home(self):
        """Kernel results are in host memory when the call ends, or the call fails; no lock remains."""
        failed = []
        for n in range(100):
            x = np.zeros(1000, np.float32)
            q.parallel_do(1000, x, q.inc)
            fake.record.fail_after, fake.record.fail_with = n, 1
            try:
                q.parallel_do(1000, x, q.inc)
            except q.QuasarError:
                pass
            else:
                self.assertEqual(set(x), {2}, fake.record.failed)
            none_left = fake.record.fail_after >= 0
            fake.record.fail_after = -1
            q.parallel_do(1000, x, q.inc)
            self.assertTrue(set(x) == {3} or failed and set(x) == {2}, x)
            if none_left:
                break
            failed.append(fake.record.failed)
        self.assertIn(b"MemcpyDtoH", b" ".join(failed))


class Order(Gpu):
    def test_a_producer_is_told_our_stream(self):
        own = q.stream().ptr
        x = fake.ByDLPack(np.zeros(3, np.float32))
        q.same(x)
        self.assertEqual((x.asked[-1]["stream"], x.asked[-1]["max_version"]), (own, (1, 0)))
        x = fake.ByOldDLPack(np.zeros(3, np.float32))
        q.same(x)
        self.assertEqual(x.asked[-1]["stream"], own)
        self.assertEqual(self.orders(), [])

    def test_a_stream_that_is_named_is_waited_for_and_waits(self):
        own, theirs = q.stream().ptr, fake.stream()
        both = [(2, own), (own, 2)], [(theirs, own), (own, theirs)]
        for stream, wanted in ((None, []), (1, []), (2, both[0]), (theirs, both[1])):
            self.since = fake.record.norders
            q.same(fake.ByInterface(np.zeros(3, np.float32), stream=stream))
            self.assertEqual(self.orders(), wanted, stream)
        self.since = fake.record.norders  # once for all the arguments
        x, y = (fake.ByInterface(np.zeros((3, 3), np.float32), stream=theirs) for i in range(2))
        q.parallel_do((3, 3), x, y, q.square)
        self.assertEqual(self.orders(), [(theirs, own), (own, theirs)])

    def steps(self, f):
        """What the queues are asked for meanwhile: waits, and launches of kernels."""
        fake.record.log = b""
        f()
        return ["wait" if w == "StreamWaitEvent" else "launch" for w in fake.record.log.decode().split()
                if w in ("StreamWaitEvent", "LaunchKernel")]

    def test_a_callback_finds_the_stream_ordered_and_leaves_it_so(self):
        own, theirs = q.stream().ptr, fake.stream()
        x, y = (fake.ByInterface(np.zeros(3, np.float32), stream=theirs) for i in range(2))
        q.twice(x, lambda: None)  # the kernel is compiled
        inner = [(theirs, own), (own, theirs)]
        for f, nested in ((lambda: None, []), (lambda: q.parallel_do(3, y, q.inc), inner)):
            self.since = fake.record.norders
            steps = self.steps(lambda: q.twice(x, f))
            self.assertEqual(self.orders(), [(theirs, own), (own, theirs)] + nested + [(theirs, own), (own, theirs)])
            between = ["wait", "launch", "wait"] if nested else []
            self.assertEqual(steps, ["wait", "launch", "wait", *between, "wait", "launch", "wait"])

    def test_any_number_of_streams(self):
        streams = [fake.stream() for i in range(6)]
        x = [fake.ByInterface(np.zeros(3, np.float32), stream=s) for s in streams]
        q.each(*x)
        self.assertEqual(self.steps(lambda: q.each(*x)), ["wait"] * 6 + ["launch"] * 6 + ["wait"] * 6)

    def test_every_way_in_hands_back(self):
        own, theirs = q.stream().ptr, fake.stream()
        x = fake.ByInterface(np.ones(3, np.float32), stream=theirs)
        a, cell, o = q.ones(3), q.value([[1, 2, 3], "a"]), q.holder()
        for f in (lambda: a.__setitem__(slice(None), x), lambda: cell.__setitem__(0, x), lambda: setattr(o, "x", x),
                  lambda: q._bridge._define("g", x), lambda: q.value(x), lambda: q.descriptor(x), lambda: q.same(x)):
            f()  # memory on the device is had
            self.since = fake.record.norders
            f()
            self.assertEqual(self.orders(), [(theirs, own), (own, theirs)])

    def test_a_copy_is_made_before_the_stream_goes_on(self):
        class LikeCuPy(fake.ByDLPack, fake.ByInterface):
            pass
        x = LikeCuPy(np.arange(3, dtype=np.float32), stream=fake.stream())
        fake.record.log = b""
        v = q.from_dlpack(x, copy=True)
        steps = [w for w in fake.record.log.decode().split() if "Memcpy" in w or w == "StreamWaitEvent"]
        self.assertEqual((steps[0], steps[-1], len(steps) > 2), ("StreamWaitEvent", "StreamWaitEvent", True), steps)
        x.__del__()
        x.__init__(np.zeros(3, np.float32))
        self.assertEqual(v.tolist(), [0, 1, 2])

    def test_an_order_that_fails(self):
        """A failure of any driver call is reported, and an exception raised by the user takes precedence."""
        x = fake.ByInterface(np.ones(3, np.float32), stream=fake.stream())

        def fail():
            raise KeyError("mine")
        q.twice(x, lambda: None)
        for f, args, wanted in ((q.same, (), q.QuasarError), (q.twice, (lambda: None,), q.QuasarError),
                                (q.twice, (fail,), (q.QuasarError, KeyError))):
            failed = []
            for n in range(100):
                fake.record.fail_after, fake.record.fail_with = n, 1
                try:
                    f(x, *args)
                except wanted:
                    pass
                else:  # the context stays as it was pushed, and all work was queued
                    self.assertTrue(fake.record.fail_after >= 0 or fake.record.failed == b"CtxPopCurrent")
                if fake.record.fail_after >= 0:
                    break
                failed.append(fake.record.failed)
            fake.record.fail_after = -1
            self.assertEqual(failed.count(b"StreamWaitEvent"), 2 if f is q.same else 4)
        self.assertEqual(q.same(q.ones(2)).tolist(), [1, 1])

    def test_a_stream_that_only_the_interface_names(self):
        class LikeCuPy(fake.ByDLPack, fake.ByInterface):
            pass
        own, theirs = q.stream().ptr, fake.stream()
        q.same(LikeCuPy(np.zeros(3, np.float32), stream=theirs))
        self.assertEqual(self.orders(), [(theirs, own), (own, theirs)])
        self.since = fake.record.norders
        q.same(LikeCuPy(np.zeros(3, np.float32), stream=1))
        self.assertEqual(self.orders(), [])

    def test_a_tensor_that_names_no_stream(self):
        own, theirs, asked = q.stream().ptr, fake.stream(), []

        class Tensor(fake.ByOldDLPack):
            @property
            def __cuda_array_interface__(self):
                return dict(shape=self.a.shape, typestr="<f4", data=(self.pointer, False), version=2)

            def detach(self):
                return self
        torch = types.ModuleType("torch")
        torch.Tensor, torch.cuda = Tensor, types.ModuleType("torch.cuda")
        torch.cuda.current_stream = lambda d: asked.append(d) or types.SimpleNamespace(cuda_stream=theirs)
        x = Tensor(np.zeros(3, np.float32))
        with unittest.mock.patch.dict(sys.modules, torch=torch):
            q.same(x)
        self.assertEqual((self.orders(), asked), ([(theirs, own), (own, theirs)], [x.device]))

    def test_a_consumer_waits_for_our_stream(self):
        own, theirs, a = q.stream().ptr, fake.stream(), q.ones(3)
        fake.read(a)  # now it has its memory, for which our own streams may wait for each other
        none = ((s, []) for s in (None, -1, 0, 1, own))
        for stream, wanted in (*none, (2, [(own, 2)]), (theirs, [(own, theirs)])):
            self.since = fake.record.norders
            self.assertEqual(fake.read(a, stream=stream)[0], (2, 0))
            self.assertEqual(self.orders(), wanted, stream)
        for stream in (-2, "1", 1.5):
            with self.assertRaisesRegex(TypeError, "stream must be None, -1, or a stream of CUDA"):
                a.__dlpack__(stream=stream)
        self.assertEqual(a.__cuda_array_interface__["stream"], own)

    def test_a_context_of_a_stream(self):
        class Torch:
            cuda_stream = fake.stream()

        class CuPy:
            ptr = fake.stream()

        class Protocol:
            def __cuda_stream__(self):
                return 0, CuPy.ptr
        own = q.stream().ptr
        for s in (Torch(), CuPy(), Protocol(), Torch.cuda_stream):
            address = Torch.cuda_stream if isinstance(s, (Torch, int)) else CuPy.ptr
            self.since = fake.record.norders
            with q.stream(s) as t:
                self.assertEqual((t.ptr, self.orders()), (address, [(address, own)]))
            self.assertEqual(self.orders(), [(address, own), (own, address)])
        self.assertEqual(q.stream_from_torch(Torch()).__cuda_stream__(), (0, Torch.cuda_stream))
        with self.assertRaisesRegex(TypeError, "stream: .* is wanted, got object"):
            q.stream(object())
        with self.assertRaisesRegex(RuntimeError, "no cuda device"):
            q.stream(None, 1)
        Torch.cuda_stream = 2**64 - 1
        for s in (-1, 2**63, 2**64 - 1, Torch()):
            with self.assertRaisesRegex(ValueError, "is not the address of a stream"):
                q.stream(s)


    def test_what_cannot_be_recorded_is_not_left_to_the_host_for_ever(self):
        m = q.compile_string("twice", "function [] = twice(x)\n x .*= 2\nend")
        x = fake.ByInterface(np.ones(1000, np.float32))
        for _ in range(2):
            fake.record.capturing = fake.record.streams - 1
            try:
                with self.assertRaisesRegex(q.QuasarError, "not loaded yet, as it is when it runs for the first time"):
                    m.twice(x)
            finally:
                fake.record.capturing = 0
        self.assertEqual(fake.copies(lambda: m.twice(x)), 0)
        fake.record.capturing = fake.record.streams - 1
        try:
            m.twice(x)
        finally:
            fake.record.capturing = 0
        self.assertEqual(x.get()[0], 4)

    def test_a_copy_that_would_end_a_capture(self):
        host, x = np.zeros(4, np.float32), fake.ByInterface(np.ones(4, np.float32))
        fake.record.capturing = fake.record.streams - 1  # our queue: transfers have the last stream
        try:
            why = "memcpy would have to wait, and a CUDA graph is being recorded on Fake GPU"
            with self.assertRaisesRegex(q.QuasarError, why):
                q.memcpy(host.ctypes.data, x.pointer, 16)
        finally:
            fake.record.capturing = 0
        q.memcpy(host.ctypes.data, x.pointer, 16)
        self.assertEqual(host.tolist(), [1] * 4)


class CuPy(Gpu):
    """A class that does what CuPy's sources say; with CuPy itself nothing of it has run."""
    def test_arguments_are_used_in_place(self):
        base = np.arange(12, dtype=np.float32).reshape(3, 4)
        for view in (base, base.T, base[::2], base[:, 1:3], base[::-1, ::-1]):
            x, y = fake.LikeCuPy(view), fake.LikeCuPy(np.zeros_like(base)[tuple(map(slice, view.shape))]
                                                      if view.shape[0] <= 3 else np.zeros(view.shape, np.float32))
            v = q.from_cupy(x)
            self.assertEqual((v.shape, v.strides, v.__cuda_array_interface__["data"][0]),
                             (view.shape, view.strides, x.pointer))
            self.assertEqual(fake.copies(lambda: q.parallel_do(view.shape, x, y, q.square)), 0)
            np.testing.assert_array_equal(y.get(), view*view)
            q.add_one(x)
            np.testing.assert_array_equal(x.get(), view + 1)

    def test_its_stream_is_followed(self):
        own, theirs = q.stream().ptr, fake.stream()
        x = fake.LikeCuPy(np.zeros(3, np.float32), stream=theirs)
        self.since = fake.record.norders
        q.parallel_do(3, x, q.inc)
        self.assertEqual((self.orders(), x.get().tolist()), ([(theirs, own), (own, theirs)], [1, 1, 1]))
        with q.stream(type("Stream", (), {"ptr": theirs})()):
            q.parallel_do(3, x, q.inc)
        self.assertEqual(x.get().tolist(), [2, 2, 2])

    def test_it_takes_arrays_of_the_language(self):
        a = q.value(np.arange(6, dtype=np.float32).reshape(2, 3)) + 0
        for v, strides in ((a, None), (a.T, (4, 12)), (a[:, ::2], (12, 8)), (a[::-1], (-12, 4))):
            c = fake.asarray(v)
            self.assertEqual((c.strides, c.stream), (strides, q.stream().ptr))
            self.assertEqual(c.get().tolist(), v.tolist())
        with unittest.mock.patch.dict(sys.modules, cupy=fake):
            where, pointer, elements = q.to_cupy(a)
        self.assertEqual((where, pointer, elements.tolist()), ((2, 0), fake.asarray(a).pointer, a.tolist()))

    def test_read_only_arrays(self):
        x = fake.LikeCuPy(np.ones(3, np.float32))
        x.a.flags.writeable = False  # which its capsules tell, if not its interface
        v = q.from_cupy(x)
        self.assertEqual((v.readonly, v.__cuda_array_interface__["data"]), (True, (x.pointer, True)))
        with self.assertRaisesRegex(ValueError, "inc: x is read-only"):
            q.parallel_do(3, x, q.inc)
        with unittest.mock.patch.dict(sys.modules, cupy=fake), self.assertRaisesRegex(BufferError, "read-only"):
            q.to_cupy(v)  # asked for a capsule of before 1.0, which cannot tell it

    def test_operators_on_either_side(self):
        a, x = q.ones(3), fake.LikeCuPy(np.arange(3, dtype=np.float32))
        self.assertEqual(((a + x).tolist(), (x + a).get().tolist()), ([1, 2, 3], [1, 2, 3]))
        y = x
        y += a
        self.assertEqual((y is x, x.get().tolist()), (True, [1, 2, 3]))
        b = a
        b += x
        self.assertEqual((b is a, a.tolist()), (True, [2, 3, 4]))
        a[:] = x
        self.assertEqual(a.tolist(), [1, 2, 3])

    def test_a_number(self):
        x = fake.LikeCuPy(np.array(2.5))
        self.assertEqual((q.same(x), q.from_cupy(x).shape), (2.5, ()))


class Out(Gpu):
    def test_an_array_of_the_language(self):
        a = q.ones(2, 3)
        self.assertEqual(a.__dlpack_device__(), (2, 0))
        where, pointer, elements = fake.read(a)
        self.assertEqual((where, elements.tolist()), ((2, 0), [[1] * 3] * 2))
        d = a.__cuda_array_interface__
        self.assertEqual((d["shape"], d["typestr"], d["version"], d["data"]), ((2, 3), "<f4", 3, (d["data"][0], False)))
        self.assertFalse(hasattr(a, "__array_interface__"))
        self.assertRaises(BufferError, a.__dlpack__, dl_device=(2, 1))
        self.assertRaises(BufferError, a.__dlpack__, dl_device=(1, 0), copy=False)
        self.assertEqual(np.from_dlpack(_CpuOnly(a)).tolist(), [[1] * 3] * 2)

    def test_what_is_given_stays_where_it_is_and_current(self):
        a = q.zeros(4)
        pointer = a.__cuda_array_interface__["data"][0]
        see = (fake.ctypes.c_float * 4).from_address(pointer)
        q.parallel_do(4, a, q.inc)
        self.assertEqual(list(see), [1] * 4)
        q.add_one(a)  # on the host
        a[0] = 7
        self.assertEqual(list(see), [7, 2, 2, 2])
        see[3] = 30  # the other library
        q.parallel_do(4, a, q.inc)
        self.assertEqual((a.tolist(), list(see)), ([8, 3, 3, 31],) * 2)
        self.assertEqual(a.__cuda_array_interface__["data"][0], pointer)

    def test_where_others_use_it_on_the_host_it_stays_there(self):
        a = q.zeros(4)
        view = np.asarray(a)
        self.assertEqual(a.__dlpack_device__(), (1, 0))
        self.assertFalse(hasattr(a, "__cuda_array_interface__"))
        q.parallel_do(4, a, q.inc)
        self.assertEqual(view.tolist(), [1] * 4)
        view[0] = 5
        q.parallel_do(4, a, q.inc)
        self.assertEqual(view.tolist(), [6, 2, 2, 2])
        del view
        self.assertEqual(a.__dlpack_device__(), (2, 0))
        x = q.value(np.zeros(3))
        self.assertEqual(x.__dlpack_device__(), (1, 0))

    def test_numpy_gets_a_copy_of_what_others_use_on_the_device(self):
        x = fake.ByDLPack(np.arange(4, dtype=np.float32))
        v = q.value(x)
        for a in (np.asarray(v), v.to_py(), v.numpy(), v.to_numpy()):
            self.assertEqual((a.tolist(), a.flags.writeable), ([0, 1, 2, 3], False))
        self.assertRaises(BufferError, memoryview, v)
        again = pickle.loads(pickle.dumps(v))
        self.assertEqual((again.tolist(), v.sum(), v.reshape(2, 2).tolist(), v.T.__dlpack_device__()),
                         ([0, 1, 2, 3], 6, [[0, 1], [2, 3]], (2, 0)))
        own = v.to_numpy(copy=True)
        own[0] = 9
        self.assertEqual(x.get()[0], 0)
        self.assertRaises(ValueError, v.to_numpy, copy=False)

    def test_lock_gives_pointers_for_the_drivers_copies(self):
        """memcpy_dtod of the manual"""
        x = fake.ByInterface(np.arange(6, dtype=np.float32).reshape(2, 3))
        a = q.uninit(2, 3)
        with a.locked(q.LOCK_WRITE, q.MEMRESOURCE_SINGLE_CUDA) as p:
            fake.memcpy_dtod(p, x.pointer, 24)
        self.assertEqual(a.tolist(), [[0, 1, 2], [3, 4, 5]])
        a *= 2
        with a.locked(q.LOCK_READ, q.MEMRESOURCE_SINGLE_CUDA) as p:
            q.memcpy(x.pointer, p, 24)
        np.testing.assert_array_equal(x.get(), [[0, 2, 4], [6, 8, 10]])
        host = np.zeros(6, np.float32)
        q.memcpy(host.ctypes.data, x.pointer, 24)
        self.assertEqual(host[5], 10)

    def test_gradients(self):
        a, x = q.zeros(3), fake.ByDLPack(np.ones(3, np.float32))
        a.grad = q.value(x)
        self.assertEqual(a.grad.__cuda_array_interface__["data"][0], x.pointer)


class _CpuOnly:
    """numpy.from_dlpack(x, device="cpu") of NumPy 2.1"""

    def __init__(self, a):
        self.a = a

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        return self.a.__dlpack__(**dict(options, dl_device=(1, 0)))


class Life(Gpu):
    def test_it_is_released_once(self):
        x = fake.ByDLPack(np.ones(100, np.float32))
        v = q.value(x)
        w, part = q.same(v), v[::2]
        capsule = part.__dlpack__()
        del v, w, part
        self.assertEqual(x.holders, 1)
        del capsule
        gc.collect()
        self.assertEqual((x.holders, fake.held), (0, {}))

    def test_it_is_never_evicted(self):
        q.destroy()
        q.init("cuda", memory_limit=1 << 20)
        q.compile_string("gpu", PROGRAM)
        x = fake.ByDLPack(np.ones(100000, np.float32))
        v, own = q.value(x), q.ones(100000)
        see = own.__cuda_array_interface__["data"][0]
        for i in range(8):
            a = q.ones(100000) + i
            q.parallel_do(100000, a, q.inc)
            q.parallel_do(100000, v, q.inc)
            q.parallel_do(100000, own, q.inc)
            self.assertEqual((a[99999], v[5], own[5]), (i + 2, i + 2, i + 2))
        self.assertEqual((x.get()[0], own.__cuda_array_interface__["data"][0]), (9, see))

    def test_memory_that_outlives_the_machine_does_not_end_a_capture(self):
        before = fake.record.allocated
        a = q.ones(4)
        view = a.__dlpack__()
        q.destroy()
        fake.record.capturing = -2  # others, on the default stream of this thread
        try:
            del a, view
            gc.collect()
        finally:
            fake.record.capturing = 0
        self.assertLessEqual(fake.record.allocated, before)

    def test_views_outlive_the_machine(self):
        q.destroy()
        before = fake.record.allocated, fake.record.retained
        q.init("cuda")
        a, x = q.ones(4), fake.ByDLPack(np.arange(4, dtype=np.float32))
        v = q.value(x)
        capsule, theirs = a.__dlpack__(), v.__dlpack__()
        d = a.__cuda_array_interface__
        q.destroy()
        see = (fake.ctypes.c_float * 4).from_address(d["data"][0])
        self.assertEqual(list(see), [1] * 4)
        self.assertFalse(hasattr(a, "__cuda_array_interface__"))
        q.init("cuda")
        noise = [q.zeros(4) + 9 for i in range(20)]
        for n in noise:
            n.__cuda_array_interface__
        b, c = q.from_dlpack(capsule), q.from_dlpack(theirs)
        b += 1
        self.assertEqual((list(see), b.tolist(), c.tolist(), x.holders), ([2] * 4, [2] * 4, [0, 1, 2, 3], 1))
        del a, b, c, d, v, capsule, theirs, noise, n
        gc.collect()
        self.assertEqual(x.holders, 0)
        q.destroy()
        del x
        self.assertEqual((fake.record.allocated, fake.record.retained), before)

    def test_a_thousand_are_flat(self):
        def work(n):
            for i in range(n):
                for x in producers(np.ones(10, np.float32)):
                    v = q.value(x)
                    v.__cuda_array_interface__
                    v.__dlpack__(max_version=(1, 0))
                    np.asarray(v)
                    q.same(x)
        work(2)
        gc.collect()
        blocks, events = fake.record.allocated, fake.record.events
        work(100)
        self.assertEqual((fake.record.allocated, fake.record.events, fake.held), (blocks, events, {}))

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_the_child_of_a_fork(self):
        text = """
            import os, sys, warnings
            warnings.simplefilter("ignore", DeprecationWarning)
            sys.path.insert(0, %r)
            import fake_gpu as fake, numpy as np, pyquasar as q
            q.init("cuda")
            x, a = fake.ByDLPack(np.ones(4, np.float32)), q.ones(4)
            v, capsule, d = q.value(x), a.__dlpack__(), a.__cuda_array_interface__
            if os.fork() == 0:
                del v, capsule
                try: a.__dlpack__()
                except (q.QuasarError, BufferError): print("closed", flush=True)
                q.init("cpu")
                print(q.ones(2), flush=True)
                os._exit(0)
            assert os.wait()[1] == 0
            print(v, fake.read(a)[2])
            """ % os.path.dirname(os.path.abspath(__file__))
        r = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=60)
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "closed\n[1,1]\n[1,1,1,1] [1. 1. 1. 1.]\n", ""))

    def test_threads(self):
        import threading
        wrong = []

        def run(k):
            for i in range(50):
                x = fake.ByDLPack(np.full(64, k, np.float32))
                q.parallel_do(64, x, q.inc)
                if x.get().tolist() != [k + 1] * 64 or np.asarray(q.value(x)).sum() != 64 * (k + 1):
                    wrong.append(k)
        threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_exits_with_memory_in_use(self):
        text = """
            import sys
            sys.path.insert(0, %r)
            import fake_gpu as fake, numpy as np, pyquasar as q
            q.init("cuda")
            x, a = fake.ByDLPack(np.ones(4, np.float32)), q.ones(4)
            kept = [q.value(x), a.__dlpack__(), a.__cuda_array_interface__, np.asarray(q.ones(3))]
            print(a)
            """ % os.path.dirname(os.path.abspath(__file__))
        r = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=60)
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "[1,1,1,1]\n", ""))


class OnTheCpu(Gpu):
    device = "cpu"

    def test_memory_of_a_gpu_is_refused(self):
        for x in (fake.ByDLPack(np.zeros(3)), fake.ByOldDLPack(np.zeros(3))):
            why = (r"argument x: the elements are on cuda:0, and memory of the cpu is wanted; "
                   r"from_dlpack\(x, copy=True\) makes a copy")
            with self.assertRaisesRegex(TypeError, why):
                q.same(x)
        with self.assertRaisesRegex(TypeError, "argument x: the elements are on cuda, and memory of the cpu is wanted"):
            q.same(fake.ByInterface(np.zeros(3)))
        self.assertEqual(q.from_dlpack(fake.ByDLPack(np.arange(3.0)), copy=True).tolist(), [0, 1, 2])
        self.assertFalse(hasattr(q.zeros(3), "__cuda_array_interface__"))


def has_cuda():
    if os.environ.get("FAKE_CUDA"):
        return False
    try:
        q.destroy()
        q.init("cuda")
    except q.QuasarError:
        return False
    q.destroy()
    return True


needs_cuda = unittest.skipUnless(has_cuda(), "no CUDA device")


@needs_cuda
class RealGpu(unittest.TestCase):
    def setUp(self):
        q.destroy()
        q.init("cuda")
        q.compile_string("gpu", PROGRAM)


@unittest.skipUnless(torch and torch.cuda.is_available(), "no CUDA device" if torch else "needs torch")
class RealTorch(RealGpu):
    def test_tensors_are_used_in_place(self):
        for dtype in (torch.float32, torch.float64, torch.int32):
            x = torch.arange(12, dtype=dtype, device="cuda").reshape(3, 4).t()
            y = torch.zeros(8, 3, dtype=dtype, device="cuda")[::2]
            q.parallel_do(x.shape, x, y, q.square)
            self.assertTrue(torch.equal(y, x * x), dtype)
            q.add_one(y)
            self.assertTrue(torch.equal(y, x * x + 1), dtype)

    def test_there_and_back(self):
        t = torch.arange(6.0, device="cuda").reshape(2, 3)
        v = q.from_torch(t)
        self.assertEqual(v.to_torch().data_ptr(), t.data_ptr())
        self.assertEqual(torch.as_tensor(fake_interface(v), device="cuda").data_ptr(), t.data_ptr())
        self.assertEqual(q.to_torch(q.ones(3)).device.type, "cuda")
        self.assertEqual(v.numpy().tolist(), t.tolist())

    def test_gradients_travel(self):
        t = torch.ones(3, device="cuda", requires_grad=True)
        v = q.from_torch(t)
        v.grad[0] = 5
        self.assertEqual(t.grad.tolist(), [5, 0, 0])
        self.assertTrue(v.to_torch().requires_grad)

    def test_side_streams(self):
        s = torch.cuda.Stream()
        with torch.cuda.stream(s):
            for i in range(20):
                x = torch.zeros(1 << 20, device="cuda")
                for k in range(10):
                    x += 1
                q.parallel_do(1 << 20, x, q.inc)
                self.assertEqual((x * 2).sum().item(), 22 << 20)

    def test_memcpy_dtod(self):
        t, a = torch.arange(4.0, device="cuda"), q.uninit(4)
        with a.locked(q.LOCK_WRITE, q.MEMRESOURCE_SINGLE_CUDA) as p:
            q.memcpy(p, t.data_ptr(), 16)
        self.assertEqual(a.tolist(), [0, 1, 2, 3])


@unittest.skipUnless(cupy and has_cuda(), "no CUDA device" if cupy else "needs CuPy")
class RealCuPy(RealGpu):
    def test_arrays_are_used_in_place(self):
        x, y = cupy.arange(12, dtype=cupy.float32).reshape(3, 4).T, cupy.zeros((4, 3), cupy.float32)
        q.parallel_do(x.shape, x, y, q.square)
        cupy.testing.assert_array_equal(y, x * x)
        v = q.from_cupy(x)
        self.assertEqual(cupy.asarray(v).data.ptr, x.data.ptr)
        self.assertEqual(q.to_cupy(v).data.ptr, x.data.ptr)

    def test_memcpy_dtod(self):
        x, a = cupy.arange(4, dtype=cupy.float32), q.uninit(4)
        with a.locked(q.LOCK_WRITE, q.MEMRESOURCE_SINGLE_CUDA) as p:
            cupy.cuda.runtime.memcpy(p, x.data.ptr, 16, cupy.cuda.runtime.memcpyDeviceToDevice)
        self.assertEqual(a.tolist(), [0, 1, 2, 3])


if __name__ == "__main__":
    unittest.main()
