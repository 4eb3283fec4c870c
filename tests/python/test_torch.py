"""import pyquasar: writes to torch memory are reported to torch, operators write nothing, and tensors without elements
are refused with what helps."""
import operator, os, subprocess, sys, textwrap, threading, unittest, warnings

import pyquasar as q
from optional import library

np, torch, jax = library("numpy"), library("torch"), library("jax")

PROGRAM = """
    function [] = __kernel__ neg(x : vec, pos : int)
        x[pos] = -x[pos]
    end
    function [] = __kernel__ add(x : vec, y : vec, pos : int)
        y[pos] += x[pos]
    end
    function [] = __kernel__ scale(x : vec, y : vec, pos : int)
        y[pos] = 2*x[pos]
    end
    function s = total(x)
        s = sum(x) + x[0]
    end
    function [] = set_first(x)
        x[0] = 9
    end
    function [] = set_each(x)
        for k = 0..numel(x)-1
            x[k] += 1
        end
    end
    function [] = launch(x, k)
        parallel_do(numel(x), x, k)
    end
    function y = spoil(x, k)
        y = x*k
        x[0] = 7
    end
    function y = same(x)
        y = x
    end
    function y = maybe(x, twice = true)
        y = twice ? 2*x : x
    end
    function y = drawn(x)
        y = x.*rand(size(x))
    end
    function y = now_and_then(x, f)
        x[0] = 5
        y = f()
        x[1] = 6
    end
    type box : mutable class
        x : vec
    end
    function b = boxed(x)
        b = box()
        b.x = x
    end
    function [] = fill_box(b)
        b.x[1] = 4
    end
    function [] = fail_late(x)
        x[0] = 8
        error("late")
    end"""


class Torch(unittest.TestCase):
    def setUp(self):
        q.init("cpu")
        self.m = q.compile_string("torch", PROGRAM)
        self.addCleanup(q.destroy)


@unittest.skipUnless(torch and np, "needs torch and numpy")
class Written(Torch):
    """Versions of tensors: what autograd compares."""

    def doors(self):
        m = self.m

        def kept(write):
            return lambda t: write(q.value(t))

        def slice_(v):
            v[1:] = 3

        def item(v):
            v[0] = 3

        def plus(v):
            v += 1

        def taken(t):
            q.from_dlpack(t)[0] = 4

        def twice(t):
            v = q.value(t)
            v[0] = 1
            before = t._version
            v[0] = 2
            self.assertGreater(t._version, before)
        return {
            "kernel": lambda t: q.parallel_do(4, t, m.neg),
            "second argument": lambda t: q.parallel_do(4, np.ones(4, "f"), t, m.add),
            "function": m.set_first, "loop": m.set_each, "launched by a function": lambda t: m.launch(t, m.neg),
            "view": lambda t: m.set_first(t[2:]), "named argument": lambda t: m.set_first(x=t),
            "kept, an item": kept(item), "kept, a slice": kept(slice_), "kept, in place": kept(plus),
            "kept, a kernel": kept(lambda v: q.parallel_do(4, v, m.neg)), "kept, again": twice,
            "kept, fill": kept(lambda v: v.fill(2)), "object": lambda t: m.fill_box(m.boxed(t)),
            "descriptor": lambda t: item(q.descriptor(t)), "from_torch": lambda t: item(q.from_torch(t)),
            "from_dlpack": taken, "out": lambda t: q.value(np.full((4, 2), 9, "f")).sum(axis=1, out=q.value(t)),
            "error": lambda t: self.assertRaises(q.QuasarError, m.fail_late, t),
        }

    def test_every_door_raises_the_version(self):
        for name, write in self.doors().items():
            with self.subTest(name):
                t = torch.arange(1., 5)
                before, old = t._version, t.clone()
                write(t)
                self.assertGreater(t._version, before)
                self.assertFalse(torch.equal(t, old))

    def test_reading_does_not(self):
        t = torch.arange(1., 5)
        y = np.zeros(4, "f")
        v = q.value(t)
        for read in (self.m.total, lambda t: q.parallel_do(4, t, y, self.m.scale), q.sin, q.sort, self.m.same,
                     lambda t: v[0] + v[1:], lambda t: np.asarray(v), lambda t: v.to_torch(), lambda t: v.tolist(),
                     lambda t: q.from_dlpack(t)):
            before = t._version
            read(t)
            self.assertEqual(t._version, before)

    def test_one_call_is_one_change(self):
        t = torch.zeros(100)
        before = t._version
        self.m.set_each(t)
        self.assertEqual(t._version, before + 1)

    def test_backward_refuses_what_was_overwritten(self):
        x = torch.arange(1., 4, requires_grad=True)
        y = x*1
        z = (y*y).sum()
        with torch.no_grad():
            q.parallel_do(3, y, self.m.neg)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            z.backward()

    def test_the_tensor_may_end_before_torch_is_told(self):
        base = torch.zeros(4)
        before = base._version
        self.m.set_first(base[1:])
        self.assertEqual((base._version, base[1].item()), (before + 1, 9))
        count = sys.getrefcount(base)
        for _ in range(50):
            self.m.set_first(base)
        self.assertEqual(sys.getrefcount(base), count)

    def test_python_that_script_code_calls_sees_the_version(self):
        t = torch.zeros(4)
        before = t._version
        seen = []
        self.m.now_and_then(t, lambda: seen.append(t._version))
        self.assertEqual((seen, t._version), ([before + 1], before + 2))

    def test_large_arrays_and_other_threads(self):
        def work():
            for _ in range(5):
                self.m.set_each(t)
        t = torch.zeros(1 << 20)
        before = t._version
        workers = [threading.Thread(target=work) for _ in range(3)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        self.assertEqual(t._version, before + 15)

    def test_inference_mode(self):
        with torch.inference_mode():
            t = torch.zeros(4)
            self.m.set_first(t)
            q.value(t)[1] = 2
        self.assertEqual(t.tolist(), [9, 2, 0, 0])

    def test_older_torch(self):
        from pyquasar import _support
        for t in (torch.zeros(4), torch.zeros(2, 3).T, torch.zeros(())):
            before = t._version
            _support._count_change(t)
            self.assertEqual(t._version, before + 1)


@unittest.skipUnless(torch and np, "needs torch and numpy")
class Operators(Torch):
    def test_they_never_write_to_their_arguments(self):
        op = q.torch_op(self.m.spoil)
        x = torch.ones(3)
        for given in (x, x.clone().requires_grad_()):
            with self.assertRaisesRegex(q.QuasarError, "read-only and cannot be written|memory of others"):
                op(given, 2.)
        with torch.no_grad(), self.assertRaisesRegex(q.QuasarError, "the array .* is read-only and cannot be written"):
            op(x.clone().requires_grad_(), 2.)
        self.assertEqual(x.tolist(), [1, 1, 1])
        kernel = q.torch_op(self.m.add, dims=3, out={"y": lambda x: x.shape})
        self.assertEqual(kernel(x).tolist(), [1, 1, 1])

    def test_a_result_that_is_an_argument_is_a_copy(self):
        x = torch.ones(3)
        y = q.torch_op(self.m.same)(x)
        y += 1
        self.assertEqual((x.tolist(), y.tolist()), ([1]*3, [2]*3))

    def test_defaults_of_truth_values(self):
        op = q.torch_op(self.m.maybe)
        self.assertEqual((op(torch.ones(2)).tolist(), op(torch.ones(2), False).tolist()), ([2, 2], [1, 1]))

    def test_random_numbers_are_drawn_once(self):
        op, x = q.torch_op(self.m.drawn), torch.ones(4, dtype=torch.float64, requires_grad=True)
        y = op(x)
        y.sum().backward()
        self.assertEqual(x.grad.tolist(), y.tolist())
        for again in (lambda: torch.autograd.grad(op(x).sum(), x, create_graph=True),
                      lambda: torch.func.grad(lambda x: op(x).sum())(x.detach()),
                      lambda: torch.func.jvp(op, (x.detach(),), (x.detach(),))):
            with self.assertRaisesRegex(ValueError, "drawn draws random numbers: .* give it the numbers"):
                again()

    def test_shapes_where_ones_stop_the_function(self):
        from torch._subclasses import FakeTensorMode

        def never(x):
            raise ValueError("not today")
        with FakeTensorMode() as mode:
            a = mode.from_tensor(torch.ones(3, 3, dtype=torch.float64))
            y = q.torch_op(lambda a: q.inv(a))(a)
            self.assertEqual((tuple(y.shape), y.dtype), ((3, 3), torch.float64))
            with self.assertRaisesRegex(Exception, "never: a run on ones, .*, stops: not today; shape= tells them"):
                q.torch_op(never)(a)

    def test_adjoints_that_are_batched(self):
        wide = dict(dtype=torch.float64, requires_grad=True)
        a, b, z = torch.ones(3, **wide), torch.arange(1, 4, **wide), torch.ones(2, dtype=torch.complex128) + 1j
        cube, two = q.torch_op(lambda a, b: a*a*b), q.torch_op(lambda a, b: (a*b, q.sum(a*a*b)), results=2)
        turned = q.torch_op(lambda z: z*q.conj(z)*z)
        for f, args in ((cube, (a, b)), (two, (a, b)), (lambda z: turned(z.conj()), (z.requires_grad_(),))):
            self.assertTrue(torch.autograd.gradcheck(f, args, check_batched_grad=True))
        self.assertTrue(torch.autograd.gradgradcheck(cube, (a, b), check_batched_grad=True))
        rows = torch.autograd.functional.jacobian(cube, (a, b), vectorize=True)
        self.assertEqual([r.diag().tolist() for r in rows], [[2, 4, 6], [1, 1, 1]])
        y = cube(a, b)
        got = torch.vmap(lambda v: torch.autograd.grad(y, a, v, retain_graph=True)[0])(torch.eye(3, dtype=a.dtype))
        self.assertEqual(got.diag().tolist(), [2, 4, 6])

    def test_types_of_numbers(self):
        n, same, add, total = 2**40 + 1, *map(q.torch_op, (lambda x: x*1, lambda a, b: a + b, lambda x: q.sum(x)))
        for y in same(torch.tensor(n)), same(n), total(torch.tensor([n])):
            self.assertEqual((y.item(), y.dtype), (n, torch.float64))
        self.assertEqual(total(torch.ones(3, dtype=torch.int16)).dtype, torch.float32)
        half, single = torch.tensor(1.0, dtype=torch.float16), torch.tensor(1.0, requires_grad=True)
        for args, dtype in (((half, torch.tensor(1.0, dtype=torch.float64)), "float64"), ((half, single), "float32"),
                            ((single, 0.1), "float32"), ((single, 0.5j), "complex64"), ((0.1, 0.5j), "complex128"),
                            ((torch.tensor(3), 0.1), "float64")):
            for y in add(*args), torch.compile(add, backend="eager", fullgraph=True)(*args):
                self.assertEqual(y.dtype, getattr(torch, dtype))
        self.assertEqual(torch.vmap(add, (0, None))(torch.ones(3), 0.1).dtype, torch.float32)
        add(single, 0.1).backward()
        self.assertEqual(single.grad, 1)
        turned = q.torch_op(lambda x: q.sum(x)*1j)
        self.assertEqual(turned(torch.ones(2, dtype=torch.float64)).dtype, torch.complex128)

    def test_vmap_of_nothing(self):
        op, none = q.torch_op(lambda x, y: (x*y, q.sum(x)), results=2), torch.zeros(3, 0, dtype=torch.float64)
        a, b = torch.vmap(op, in_dims=(1, None))(none, torch.ones(3, dtype=torch.float64))
        self.assertEqual((a.shape, b.shape, a.dtype), ((0, 3), (0,), torch.float64))
        x = torch.zeros(0, 3)
        self.assertEqual(torch.func.vmap(torch.func.grad(lambda x: op(x, x)[1]))(x).shape, (0, 3))
        self.assertEqual(torch.func.grad(lambda x: torch.vmap(op)(x, x)[0].sum())(x).shape, (0, 3))

    def test_random_numbers_of_other_threads_are_not_counted(self):
        turn, done = threading.Semaphore(0), threading.Semaphore(0)

        def draw():
            turn.acquire()
            q.rand(8)
            done.release()

        def f(x):
            turn.release()
            done.acquire()
            return x*x
        x = torch.ones(2, dtype=torch.float64)
        for derivative in (lambda: torch.func.grad(lambda x: q.torch_op(f)(x).sum())(x),
                           lambda: torch.func.jvp(q.torch_op(f), (x,), (x,))[1]):
            others = [threading.Thread(target=draw) for _ in range(4)]
            for t in others:
                t.start()
            self.assertEqual(derivative().tolist(), [2, 2])
            for _ in others:
                turn.release()
            for t in others:
                t.join()

    def test_an_output_without_a_model_says_what_came(self):
        op = q.torch_op(self.m.scale, out="y")
        for x, why in ((torch.arange(3), r"x is an array of int64 of shape \(3,\)"),
                       (torch.tensor(1.), "x is "), (torch.ones(2, dtype=torch.bool), "bool of shape")):
            with self.assertRaisesRegex(TypeError, "scale: y gets its shape .* and there is none: .*" + why):
                op(x)


@unittest.skipUnless(torch and np, "needs torch and numpy")
class OnTheRight(Torch):
    """Values of the language where tensors change in place."""
    def test_operators_change_the_tensor(self):
        ints = ("iand", "ior", "ixor", "ilshift", "irshift")
        for name in ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow") + ints:
            a, b = (torch.tensor([7, 5, 9], dtype=torch.int64 if name in ints else torch.float32),
                    torch.tensor([2, 3, 1], dtype=torch.int64 if name in ints else torch.float32))
            for y in (q.value(b), q.value(b.flip(0).numpy())[::-1], q.value(np.broadcast_to(b[:1].numpy(), (3,)))):
                with self.subTest(name):
                    t, wanted, before = a.clone(), a.clone(), a._version
                    f = getattr(operator, name)
                    r = f(t, y)
                    self.assertIs(r, t)
                    self.assertEqual(t.tolist(), f(wanted, y.copy().to_torch()).tolist())
        t = torch.ones(2, 2)
        self.assertEqual((t @ q.value([[1, 2], [3, 4]])).tolist(), [[4, 6], [4, 6]])  # no tensor has @=

    def test_methods_and_items(self):
        t, y = torch.arange(6.).reshape(2, 3), q.value(np.float32([1, 2, 3]))
        t.add_(y, alpha=2)
        t[0] = y
        t[q.value(np.array([[False] * 3, [True] * 3]))] = q.value(np.float32(8))
        self.assertEqual(t.tolist(), [[1, 2, 3], [8, 8, 8]])
        places, mask = q.value(np.array([2, 0])), q.value(np.array([True, False, True]))
        self.assertEqual((t[0, places].tolist(), t[:, mask].tolist()), ([3, 1], [[1, 3], [8, 8]]))
        t.copy_(q.value(np.zeros((2, 3)))).mul_(q.value(2.0))
        self.assertEqual(t.tolist(), [[0]*3]*2)

    def test_what_torch_cannot_is_an_error_and_changes_nothing(self):
        t = torch.arange(3)
        for y in (q.value([0.5, 1, 2]), q.ones(4), q.value([1, 2, 3j])):
            with self.assertRaises((RuntimeError, ValueError)):
                t += y
        with self.assertRaises(TypeError):
            t += q.evaluate("object()")
        self.assertEqual((type(t), t.tolist()), (torch.Tensor, [0, 1, 2]))

        def f(x):
            t = torch.ones(3)
            with self.assertRaisesRegex(ValueError, "a derivative is being taken"):
                t *= x
            with self.assertRaisesRegex(ValueError, "a derivative is being taken"):
                t *= x[0]
            return (x*x).sum()
        self.assertEqual(q.grad(f)(np.ones(3)).tolist(), [2, 2, 2])
        with self.assertRaisesRegex(TypeError, r"sin: functions of torch take tensors; to_torch\(x\) makes one"):
            torch.sin(q.ones(3))

    def test_autograd_sees_the_change(self):
        x = torch.ones(3, requires_grad=True)
        y = x*2
        y *= q.value([1, 2, 3])
        y.sum().backward()
        self.assertEqual(x.grad.tolist(), [2, 4, 6])

    @unittest.skipUnless(torch and hasattr(torch, "compile"), "needs torch 2")
    def test_in_compiled_code(self):
        y = q.value(np.float32([1, 2, 3]))

        def f(t):
            t = t + 1
            t *= y
            return t
        self.assertEqual(torch.compile(f, backend="eager")(torch.ones(3)).tolist(), [2, 4, 6])

    def test_others_on_the_left(self):
        y = q.value(np.array([1., 2, 3]))
        a = same = np.ones(3)
        a *= y
        self.assertEqual((a is same, a.tolist()), (True, [1, 2, 3]))
        a = np.arange(3)
        with self.assertRaises(TypeError):  # as of NumPy's own: no float64 into integers
            a *= y
        v = same = q.ones(3)
        for x in (np.arange(3.), torch.arange(3.), [0, 1, 2]):
            v += x
        self.assertEqual((v is same, v.tolist()), (True, [1, 4, 7]))

    @unittest.skipUnless(jax, "needs JAX")
    def test_arrays_of_jax_do_not_change(self):
        a = before = jax.numpy.ones(3)
        a *= q.value([1, 2, 3])
        self.assertEqual((type(a), a.tolist(), before.tolist()), (type(before), [1, 2, 3], [1, 1, 1]))
        v = same = q.ones(3)
        v *= a
        self.assertEqual((v is same, v.tolist()), (True, [1, 2, 3]))


@unittest.skipUnless(torch and np, "needs torch and numpy")
class Batches(Torch):
    def test_values_collate(self):
        from torch.utils.data import DataLoader, default_collate
        x = np.arange(12, dtype=np.float32).reshape(4, 3)
        rows = [q.value(r) for r in x]
        given = [{"x": r[::-1], "y": (i, q.value([r, "a"]))} for i, r in enumerate(rows)]
        for batch in DataLoader(given, batch_size=4):
            self.assertEqual(batch["x"].tolist(), x[:, ::-1].tolist())
            self.assertEqual((batch["y"][0].tolist(), batch["y"][1][0].tolist(), batch["y"][1][1]),
                             ([0, 1, 2, 3], x.tolist(), ("a",)*4))
        frozen = np.zeros(2)
        frozen.flags.writeable = False
        self.assertEqual(default_collate([q.value(frozen), q.value(np.ones(2))]).tolist(), [[0, 0], [1, 1]])
        with self.assertRaisesRegex(TypeError, "let the Dataset return arrays, numbers, .* not a value of type object"):
            default_collate([q.evaluate("object()")])

    def test_whichever_is_imported_first(self):
        text = """
            import sys
            import %s
            import pyquasar as q
            q.init("cpu")
            import torch.utils.data
            print(torch.utils.data.default_collate([q.ones(2), q.zeros(2)]).tolist(),
                  any(type(f).__name__ == "_Collating" for f in sys.meta_path))"""
        env = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(q.__file__)))
        for first in ("torch", "os"):
            r = subprocess.run([sys.executable, "-c", textwrap.dedent(text % first)], env=env, capture_output=True,
                               text=True)
            self.assertEqual((r.stdout, r.stderr), ("[[1.0, 1.0], [0.0, 0.0]] False\n", ""))


@unittest.skipUnless(torch and np, "needs torch and numpy")
class Nowhere(Torch):
    def test_tensors_without_elements_name_what_helps(self):
        from torch._subclasses.fake_tensor import FakeTensorMode

        def refused(x, why):
            for f in (self.m.total, q.sin, q.value, q.descriptor):
                with warnings.catch_warnings(), self.assertRaisesRegex((TypeError, q.QuasarError), why):
                    warnings.simplefilter("ignore")
                    f(x)
            return x*1
        torch.vmap(lambda x: refused(x, "torch_op makes an operator"))(torch.ones(3, 2))
        with FakeTensorMode():
            refused(torch.ones(3), "torch_op makes an operator")
        refused(torch.ones(3).to_sparse(), "to_dense")
        refused(torch.ones(3, device="meta"), "on the device meta|are on")

    @unittest.skipUnless(jax, "needs JAX")
    def test_tracers_of_jax(self):
        def f(x):
            for g in (self.m.total, q.sin):
                with self.assertRaisesRegex((TypeError, q.QuasarError), "jax_op makes an operator"):
                    g(x)
            return x.sum()
        x = jax.numpy.ones((2, 3))
        jax.jit(f)(x), jax.vmap(f)(x), jax.grad(f)(x)


@unittest.skipUnless(np, "needs numpy")
class Messages(Torch):
    def test_the_type_of_python_stands_in_them(self):
        for f, why in ((lambda x: q.parallel_do(2, x, self.m.neg), "kernel neg: x is %s, which a kernel cannot take"),
                       (q.evaluate("x -> [1, x]"), "item 2 has type %s"), (q.evaluate("x -> 0..x"), "number, got %s"),
                       (q.evaluate("x -> ones(2)[x]"), "got a value of type %s")):
            given = r"pyvalue \(dict; value\(x\), .* makes a dictionary of it\)"
            with self.assertRaisesRegex(q.QuasarError, why % given):
                f({})


if __name__ == "__main__":
    unittest.main()
