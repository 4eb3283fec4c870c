"""import pyquasar: arrays of other libraries, in place or refused, never silently copied."""
import gc, sys, unittest

import pyquasar as q
from optional import library

np, torch = library("numpy"), library("torch")

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
          "float64", "complex64", "complex128"]


class Exchange(unittest.TestCase):
    def setUp(self):
        q.init("cpu")


@unittest.skipUnless(np, "needs numpy")
class NumPy(Exchange):
    def layouts(self, dtype):
        base = np.arange(24).astype(dtype).reshape(4, 6)
        fixed = base.copy()
        fixed.flags.writeable = False
        bytes_ = np.zeros(24 * base.itemsize + 1, np.uint8)
        odd = bytes_[1:].view(dtype).reshape(4, 6)
        odd[...] = base
        wide = np.broadcast_to(base[:1], (5, 6))
        return {"packed": base, "fortran": np.asfortranarray(base), "steps": base[::2, ::3],
                "reversed": base[::-1, ::-1],
                "transposed": base.T, "row": base[1], "column": base[:, 1:2], "none": base[:0],
                "nothing": base[:, :0], "fixed": fixed,
                "stretched": wide, "foreign": base.astype(base.dtype.newbyteorder()), "odd": odd}

    def test_every_layout_of_every_type(self):
        for dtype in DTYPES:
            for name, a in self.layouts(dtype).items():
                case = "%s %s" % (dtype, name)
                v = q.from_numpy(a)
                self.assertEqual((v.shape, v.dtype), (a.shape, dtype), case)
                np.testing.assert_array_equal(np.asarray(v), a, case)
                in_place = a.dtype.isnative and a.flags.aligned
                shared = a.size == 0 or np.shares_memory(np.asarray(v), a)
                self.assertEqual(shared, in_place or a.size == 0, case)
                again = q.from_numpy(a, copy=True)
                self.assertFalse(np.shares_memory(np.asarray(again), a), case)
                np.testing.assert_array_equal(np.asarray(again), a, case)
                if not in_place and a.size:
                    self.assertRaises(ValueError, q.from_numpy, a, copy=False)
                if not a.flags.writeable:
                    with self.assertRaises(q.QuasarError):
                        v[...] = 1
                tensor = hasattr(np, "from_dlpack") and a.flags.writeable and min(a.strides, default=0) >= 0
                back = np.from_dlpack(v) if tensor else v.to_numpy()
                np.testing.assert_array_equal(back, a, case)

    def test_what_has_no_counterpart(self):
        for a in (np.zeros(2, "M8[s]"), np.zeros((1,) * 9), np.zeros(2, np.longdouble)):
            with self.assertRaises((TypeError, q.QuasarError)):
                print(repr(q.from_numpy(a)))
        self.assertEqual(q.value(np.array(2.5)), 2.5)
        self.assertEqual(q.value(np.array(["a", "b"])).tolist(), ["a", "b"])

    def test_a_conversion_that_is_written_makes_a_copy(self):
        q.compile_string("conversions", """
            function y = as_float64(x)
                y = float64(x)
            end
            function y = as_uint8(x)
                y = uint8(x)
            end
            function y = takes_float64(x : mat[float64])
                y = x
            end""")
        for dtype in ("bool", "int16", "float32", "float64"):
            a = np.arange(6).astype(dtype).reshape(2, 3)
            for f, wanted in (q.as_float64, "float64"), (q.as_uint8, "uint8"):
                self.assertEqual(f(a).to_numpy().dtype, wanted)
                np.testing.assert_array_equal(f(a).to_numpy(), a, dtype)
        self.assertEqual(q.takes_float64(np.ones((2, 3), np.float32)).dtype, "float64")

    def test_filling(self):
        v = q.zeros(2, 3)
        v.from_numpy(np.arange(6).reshape(2, 3))
        self.assertEqual(v.tolist(), [[0, 1, 2], [3, 4, 5]])
        for a in (np.zeros((3, 2)), np.zeros(6), np.zeros((1, 2, 3))):
            with self.assertRaisesRegex(ValueError, r"must be \(2, 3\), got"):
                v.from_numpy(a)
        self.assertFalse(np.shares_memory(v.to_numpy(copy=True), v.to_numpy()))

    def test_capsules(self):
        v = q.ones(2, 3)
        for versioned in (False, True):
            c = q.to_dlpack(v, versioned=versioned)
            self.assertIn('"dltensor_versioned"' if versioned else '"dltensor"', repr(c))
            w = q.from_dlpack(c)
            w += 1
            self.assertIn("used_dltensor", repr(c))
            with self.assertRaisesRegex(TypeError, "not used yet"):
                q.from_dlpack(c)
        self.assertEqual((v[0, 0], v.__dlpack_device__()), (3, (1, 0)))
        del c, w
        self.assertRaises(TypeError, v.__dlpack__, stream=1)
        self.assertRaises(BufferError, v.__dlpack__, dl_device=(2, 0))
        self.assertRaises(BufferError, q.value("x").__dlpack__)
        v.__dlpack__(stream=-1, dl_device=(1, 0), max_version=(1, 1))
        w = q.from_dlpack(v.__dlpack__(copy=True, max_version=(1, 0)))
        w += 1
        self.assertEqual((v[0, 0], w[0, 0]), (3, 4))
        fixed = np.ones(3)
        fixed.flags.writeable = False
        r = q.value(fixed)
        self.assertRaises(BufferError, r.__dlpack__)
        with self.assertRaises(q.QuasarError):
            q.from_dlpack(r.__dlpack__(max_version=(1, 0)))[0] = 1
        self.assertEqual(q.from_dlpack(q.from_dlpack(q._bridge._array("float32", (), b"\0\0\0@"))).shape, ())

    def test_owners_live_as_long_as_views(self):
        a = np.ones(1000)
        start = sys.getrefcount(a)
        v = q.from_numpy(a)
        c = v.__dlpack__()
        w = q.from_dlpack(c)
        part = w[::2]
        del v, w, c
        gc.collect()
        self.assertGreater(sys.getrefcount(a), start)
        part += 1
        self.assertEqual(a[0], 2)
        del part
        gc.collect()
        self.assertEqual(sys.getrefcount(a), start)

    def test_names_of_types(self):
        for name in DTYPES:
            self.assertEqual(q.dtype_from_numpy(q.dtype_to_numpy(name)), name)
        self.assertRaises(TypeError, q.dtype_from_numpy, "M8[s]")


@unittest.skipUnless(torch, "needs torch")
class Torch(Exchange):
    def test_what_goes_backwards_is_refused(self):
        a = q.value([[1, 2], [3, 4]])
        for view in (a[::-1], a[:, ::-1]):
            for f in (q.to_torch, torch.from_dlpack, torch.as_tensor, torch.tensor):  # torch would end the process
                with self.assertRaises((BufferError, ValueError, RuntimeError, TypeError)):
                    f(view)
        self.assertEqual(q.to_torch(q.copy(a[::-1])).tolist(), [[3, 4], [1, 2]])
        self.assertEqual(q.to_torch(a[:1, ::-1][:, :1]).tolist(), [[2]])

    def test_a_leaf_is_the_very_object(self):
        q.compile_string("step", """
            torch = pyimport("torch")
            function [] = descend(w : pyvalue, rate)
              free = torch.no_grad()
              free.__enter__()
              w -= w.grad*rate
              free.__exit__(null, null, null)
            end""")
        w = torch.ones(3, requires_grad=True)
        (w*w).sum().backward()
        q.descend(w, 0.25)
        self.assertEqual(w.tolist(), [0.5]*3)

    def test_filling_integers(self):
        v = q.value(np.zeros(2, np.uint8))
        with self.assertRaisesRegex(ValueError, "does not hold"):
            v.from_torch(torch.tensor([np.nan, 1]))
        self.assertEqual(v.from_torch(torch.tensor([np.nan, 300]), casting="unsafe").tolist(), [0, 255])

    def test_there_and_back(self):
        for name in DTYPES + ["bfloat16"]:
            if not hasattr(torch, name):
                continue
            t = torch.zeros(4, 6, dtype=q.dtype_to_torch(name))
            for view in (t, t.t(), t[::2, 1:], t[:, 0], t[:0]):
                v = q.from_torch(view)
                self.assertEqual((v.shape, v.dtype, q.dtype_from_torch(view.dtype)), (tuple(view.shape), name, name))
                back = q.to_torch(v)
                self.assertEqual((back.shape, back.dtype), (view.shape, view.dtype))
                if view.numel():
                    self.assertEqual(back.data_ptr(), view.data_ptr(), name)
                    self.assertEqual(back.stride(), view.stride())

    def test_tensors_as_indices(self):
        a = np.arange(6.0).reshape(2, 3)
        for index in (np.array([True, False]), np.array([1, 0]), np.array(1), np.array([[True, False, True]]*2),
                      (0, np.array([0, 2])), (np.array(1), np.array(2))):
            keys = index if isinstance(index, tuple) else (index,)
            tensors = tuple(k if isinstance(k, int) else torch.from_numpy(k) for k in keys)
            v, w, key = q.value(a), a.copy(), tensors if len(tensors) > 1 else tensors[0]
            np.testing.assert_array_equal(v[key], a[index])
            v[key] = w[index] = 7
            np.testing.assert_array_equal(v, w)
        self.assertEqual([x.tolist() for x in reversed(q.value(a))], [x.tolist() for x in reversed(a)])

    def test_tensors_are_used_in_place(self):
        q.compile_string("t", """
            function [] = __kernel__ square(x, y, pos : ivec2)
              y[pos[0],pos[1]] = x[pos[0],pos[1]]*x[pos[0],pos[1]]
            end
            function [] = twice(x)
              x *= 2
            end
            function y = only_vec(x : vec)
              y = x
            end""")
        for dtype in (torch.float32, torch.float64, torch.int32):
            x = torch.arange(12, dtype=dtype).reshape(3, 4).t()
            y = torch.zeros(8, 3, dtype=dtype)[::2]
            q.parallel_do(x.shape, x, y, q.square)
            self.assertTrue(torch.equal(y, x * x), dtype)
            q.twice(y)
            self.assertTrue(torch.equal(y, 2 * x * x), dtype)
        self.assertEqual(q.only_vec(torch.ones(3, dtype=torch.int32)).dtype, "float32")
        with self.assertRaisesRegex(TypeError, "argument x must be vec, got cvec of size 1x3"):
            q.only_vec(torch.zeros(3, dtype=torch.complex64))
        with self.assertRaisesRegex(TypeError, "argument x: .*meta"):
            q.only_vec(torch.zeros(3, device="meta"))
        self.assertEqual(q.evaluate("x -> x+1")(torch.tensor(2.5)), 3.5)

    def test_gradients_are_left_alone(self):
        w = torch.ones(3, requires_grad=True)
        v = q.from_torch(w)
        v *= 2
        self.assertEqual((w.tolist(), w.requires_grad), ([2, 2, 2], True))
        self.assertTrue(q.to_torch(v, requires_grad=True).requires_grad)

    def test_a_tensor_that_autograd_watches_is_refused(self):
        m = q.compile_string("watched", """
            function [] = __kernel__ inc(x, pos : int)
                x[pos] += 1
            end""")
        w, same = torch.ones(3, requires_grad=True), q.evaluate("x -> x")
        lost = [lambda: same(w), lambda: same(w * 2), lambda: q.parallel_do(3, w, m.inc), lambda: q.value(w),
                lambda: q.ones(3) + w, lambda: w + q.ones(3), lambda: q.ones(3).__setitem__(slice(None), w)]
        for use in lost:
            with self.assertRaisesRegex(TypeError, "requires grad, and torch would not see"):
                use()
        with torch.no_grad():
            for use in lost:
                use()
        self.assertEqual(w.tolist(), [2] * 3)
        self.assertEqual(same(w.detach()).tolist(), [2] * 3)

    def test_memory_stays_when_a_tensor_gets_another(self):
        m = q.compile_string("stays", "function y = kept(x)\n y = {x}\nend\nx = 0")
        same, o = q.evaluate("x -> x"), q.evaluate("object()")

        def field(t):
            o.x = t
            return o.x

        def variable(t):
            m.x = t
            return m.x
        for take in (q.value, same, q.descriptor, q.from_torch, field, variable, lambda t: m.kept(t)[0],
                     lambda t: q.value([t, "text"])[0], q.from_dlpack):
            t = torch.arange(1000.0)
            v = take(t)
            with self.assertRaisesRegex(RuntimeError, "not resizable"):
                t.resize_(100000)
            t.data = torch.ones(2)
            noise = [torch.full((1000,), 7.0) for _ in range(20)]
            self.assertEqual(v.tolist(), list(range(1000)), take)
            del noise
        t = torch.ones(3, dtype=torch.bfloat16)
        v = q.value(t)
        with self.assertRaisesRegex(RuntimeError, "not resizable"):
            t.resize_(100000)
        t = torch.ones(3)
        q.sum(t)
        t.resize_(100000)
        with self.assertRaisesRegex(BufferError, "require gradient"):
            q.from_dlpack(torch.ones(3, requires_grad=True))

    def test_what_shares_its_elements_is_read_only(self):
        m = q.compile_string("shares", """
            function [] = first(x)
                x[0] = 1
            end
            function [] = __kernel__ inc(x, pos : int)
                x[pos] += 1
            end""")
        stretched = np.lib.stride_tricks.as_strided(np.zeros(1), (3,), (0,))
        for x in (torch.zeros(1).expand(3), stretched):
            for write in (lambda: m.first(x), lambda: q.parallel_do(3, x, m.inc), lambda: q.value(x).fill(1)):
                with self.assertRaisesRegex(q.QuasarError, "read-only"):
                    write()
            self.assertEqual(q.sum(x), 0)
        m.first(torch.zeros(1).expand(1))
        m.first(np.zeros((2, 1))[:, 0])

    def test_conjugates(self):
        t = torch.tensor([1 + 2j, 3 - 4j]).conj()
        self.assertEqual(q.from_torch(t.resolve_conj()).tolist(), [1 - 2j, 3 + 4j])
        for use in (q.from_torch, q.value, q.evaluate("x -> x")):
            for marked in (t, t.imag):
                with self.assertRaisesRegex(TypeError, r"not computed yet; x.resolve_conj\(\).resolve_neg\(\)"):
                    use(marked)

    def test_an_autograd_function(self):
        q.compile_string("sq", """
            function [] = __kernel__ forward_kernel(t, o, pos : int)
              o[pos] = t[pos]*t[pos]
            end
            function [] = __kernel__ backward_kernel(g, t, o, pos : int)
              g[pos] = 2*t[pos]*o[pos]
            end""")

        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = torch.zeros_like(x)
                ctx.save_for_backward(x)
                q.parallel_do(x.numel(), x, y, q.forward_kernel)
                return y

            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                g = torch.zeros_like(x)
                q.parallel_do(x.numel(), g, x, grad.contiguous(), q.backward_kernel)
                return g
        x = torch.full((32,), 2.0, requires_grad=True)
        Square.apply(x).sum().backward()
        self.assertEqual(x.grad.tolist(), [4.0] * 32)
        self.assertTrue(torch.autograd.gradcheck(Square.apply, torch.rand(5, dtype=torch.float64, requires_grad=True)))

    def test_views_of_tensors_and_destroy(self):
        v = q.ones(3)
        t = q.to_torch(v)
        q.destroy()
        q.init("cpu")
        noise = q.zeros(3) + 9
        self.assertEqual((t + 1).tolist(), [2, 2, 2])
        del noise


if __name__ == "__main__":
    unittest.main()
