"""Derivatives from Python: grad and its like, operators of torch and of JAX."""
import array
import collections
import ctypes
import dataclasses
import functools
import gc
import math
import pickle
import re
import threading
import unittest
import weakref
from concurrent.futures import ThreadPoolExecutor

import pyquasar as q
from optional import library

np, torch, jax = library("numpy"), library("torch"), library("jax")

PROGRAM = """
function y = wave(x)
    y = sin(x).*x
end
function y = total(x)
    y = sum(sin(x).*x)
end
function y = affine(x, a : scalar = 2.0)
    y = x.*a + sqrt(x)
end
function [a, b] = two(x, z)
    a = x.^2 .* z
    b = sum(x.*z)
end
function [] = __kernel__ stencil(x : mat'mirror, y : mat, s : scalar, pos : ivec2)
    y[pos] = s*(x[pos+[0,1]]^2 + x[pos-[1,0]])
end
function y = cube(x)
    y = sum(x.^3)
end
keeper = object()
function y = stores(x)
    keeper.part = x[10..19]
    keeper.all = x
    y = x
end
stored = () -> keeper.part
stored_all = () -> keeper.all
function y = overwrites(x)
    x[0] = 5
    y = x
end
"""


def like_the_first(x):
    return x


def squares(x):
    return (x*x).sum()


@q.custom_vjp
def ruled(x):
    return squares(x)


def ruled_forward(x):
    return squares(x), x


def ruled_back(x, dy):
    return (3*x*dy,)


ruled.defvjp(ruled_forward, ruled_back)


@q.checkpoint
def again(x):
    return squares(x)


def setUpModule():
    q.destroy()
    q.init("cpu")
    q.compile_string("grad", PROGRAM)


@unittest.skipUnless(np, "needs numpy")
class Gradients(unittest.TestCase):
    x = np.array([1.0, 2.0, 3.0]) if np else None

    def close(self, got, wanted):
        np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-12, atol=1e-14)

    def test_functions_of_scripts(self):
        x = self.x
        self.close(q.grad(q.total)(x), np.cos(x)*x + np.sin(x))
        value, gradient = q.value_and_grad(q.total)(x)
        self.assertAlmostEqual(value, (np.sin(x)*x).sum())
        dx, da = q.grad(lambda x, a: q.sum(q.affine(x, a)), argnums=(0, 1))(x, 2.0)
        self.close(dx, 2 + 0.5/np.sqrt(x))
        self.assertEqual(da, x.sum())
        self.close(q.jacobian(q.affine)(x, 2.0), np.diag(2 + 0.5/np.sqrt(x)))
        self.close(q.jacobian(q.affine, 1)(x, 2.0), x)
        hessian = np.diag(2*np.cos(x) - x*np.sin(x))
        self.close(q.hessian(q.total)(x), hessian)
        v = np.array([1.0, -2.0, 0.5])
        self.close(q.hvp(q.total, (x,), (v,))[0], hessian @ v)

    def test_vjp_and_jvp(self):
        x, z = self.x, np.array([0.5, 1.5, -1.0])
        (a, b), pullback = q.vjp(q.two, x, z)
        self.close(a, x**2*z)
        for again in range(2):
            dx, dz = pullback((np.ones(3), 2.0))
            self.close(dx, 2*x*z + 2*z)
            self.close(dz, x**2 + 2*x)
        self.close(pullback((None, 1.0))[0], z)
        (a, b), (da, db) = q.jvp(q.two, (x, z), (np.ones(3), None))
        self.close(da, 2*x*z)
        self.assertAlmostEqual(db, z.sum())
        dx, dn = q.vjp(lambda x, n: x*n, x, 3)[1](np.ones(3))
        self.close(dx, [3, 3, 3])
        self.assertIsNone(dn)  # an integral number

    def test_the_memory_of_others_may_change_before_the_pullback(self):
        x = self.x.copy()
        pullback = q.vjp(q.total, x)[1]
        x[:] = 0
        self.close(pullback(1.0)[0], np.cos(self.x)*self.x + np.sin(self.x))

    def test_python_functions(self):
        x, m = self.x, np.arange(6.0).reshape(2, 3)
        for f, wanted, at in (
                (lambda x: q.sum(x*x*x), 3*x**2, x), (lambda a: a*a*3, 12.0, 2.0), (lambda x: x.sum(), np.ones(3), x),
                (lambda x: q.sum(x[1:]*x[:-1]), [2, 4, 2], x), (lambda x: x[1]*x[2], [0, 3, 2], x),
                (lambda x: q.sum(x.reshape(3, 1)*x.reshape(1, 3)), [12]*3, x), (lambda x: x[::-1][0], [0, 0, 1], x),
                (lambda x: (x.T @ x).sum(), 2*m.sum(1)[:, None]*np.ones((2, 3)), m),
                (lambda x: (np.ones((2, 3)) @ x).sum(), [2, 2, 2], x), (lambda x: (x @ x), 2*x, x),
                (lambda x: (x.mean(axis=0)**2).sum(), np.tile(m.mean(0), (2, 1)), m),
                (lambda x: q.sum(x*q.stop_gradient(x)), x, x), (lambda x: x[0]*2 if x[0] > 0 else x[0], [2, 0, 0], x),
                (lambda x: q.sum(q.checkpoint(q.wave)(x)), np.cos(x)*x + np.sin(x), x), (lambda x: 3.0, [0]*3, x)):
            self.close(q.grad(f)(at), wanted)

    def test_arguments_of_any_kind(self):
        tensor = [torch.tensor([1.0, 2, 3], dtype=torch.float64)] if torch else []
        for x in [[1.0, 2, 3], (1.0, 2.0, 3.0), q.value(self.x), self.x] + tensor:
            self.close(q.jacobian(lambda x: x*x*x)(x), np.diag([3, 12, 27]))
            self.close(q.hessian(lambda x: q.sum(x*x*x))(x), np.diag([6, 12, 18]))
            self.close(q.grad(lambda x: q.sum(x*x))(x), [2, 4, 6])
            self.close(q.jvp(lambda x: x*x, (x,), ([1.0, 0, 0],))[1], [2, 0, 0])
            self.assertTrue(q.gradcheck(lambda x: q.sin(x)*x, x))
        for number in [2.0, np.float64(2), np.array(2.0)] + ([torch.tensor(2.0)] if torch else []):
            self.assertEqual(q.grad(lambda a: a*a*a)(number), 12)
        cube = q.jacobian(q.jacobian(lambda x: x*x*x))(self.x)
        self.close(cube, [[[6.0*x*(i == j == k) for k in range(3)] for j in range(3)] for i, x in enumerate(self.x)])

    def test_adjoints_have_the_shape_of_their_value(self):
        y, pullback = q.vjp(q.wave, self.x)
        for wrong in (np.ones(4), np.ones((3, 1)), 1.0, "a"):
            with self.assertRaises((TypeError, ValueError, q.QuasarError)):
                pullback(wrong)
        with self.assertRaises((TypeError, ValueError, q.QuasarError)):
            q.jvp(q.wave, (self.x,), (np.ones(2),))

    def test_indices_of_numpy(self):
        m, mask = np.arange(6.0).reshape(2, 3) + 1, np.array([[True, False, True], [False, True, False]])
        for index in (mask, [1, 0], ([0, 1], [2, 2]), np.array([1, 1]), (slice(None), [0, 0, 2]), (..., 0), -1,
                      (None, 1), (slice(None, None, -1), slice(1, 3)), (1, [2, 0])):
            got = q.grad(lambda x: q.sum(x[index]*x[index]))(m)
            wanted = np.zeros_like(m)
            np.add.at(wanted, index, 2*m[index])
            self.close(got, wanted)

    def test_methods_of_numpy(self):
        m = np.arange(6.0).reshape(2, 3) + 1
        for method, wanted in ((lambda x: x.take([0, 0, 5]), [[2, 0, 0], [0, 0, 1]]),
                               (lambda x: x.trace(), np.eye(2, 3)),
                               (lambda x: x.diagonal(1)*x.diagonal(), [[2, 1, 0], [0, 6, 5]]),
                               (lambda x: x.repeat(2, axis=0), [[2]*3]*2)):
            self.close(q.grad(lambda x: q.sum(method(x)))(m), wanted)
        order = q.grad(lambda x: q.sum(x[x.argsort()]*[1.0, 2, 3]))(np.array([3.0, 1, 2]))
        self.close(order, [3, 1, 2])

    def test_conversions(self):
        self.close(q.grad(lambda x: q.sum(x.astype("float32")*2))(self.x), [2, 2, 2])
        self.assertEqual(q.grad(lambda a: a*round(a))(2.25), 2)
        self.assertEqual(q.value_and_grad(lambda a: a if f"{a:.2f}" == "2.25" else -a)(2.25), (2.25, 1))

    def test_in_place(self):
        def f(x):
            y = x*1
            y *= x
            return q.sum(y)
        self.close(q.grad(f)(self.x), 2*self.x)

    def test_nesting(self):
        self.assertEqual(q.grad(q.grad(q.grad(lambda a: a**4)))(2.0), 48)
        self.assertEqual(q.grad(lambda a: a*q.grad(lambda b: a + b)(1.0))(1.0), 1)  # Siskind and Pearlmutter's example

    def test_what_would_be_lost_is_an_error(self):
        for f in (lambda x: float(x[0]), lambda x: q.sum(np.logaddexp2(x, x)), lambda x: q.sum(np.asarray(x)),
                  lambda x: q.sum(memoryview(x)), lambda x: x.tolist()[0], lambda x: x.__setitem__(0, 1.0),
                  lambda x: q.sum(np.from_dlpack(x))):
            with self.assertRaises((q.QuasarError, TypeError, BufferError)):
                q.grad(f)(self.x)
        for f in (lambda x: "x", lambda x: {"y": "x"}, lambda x: q.value([x*1, "a"])):
            with self.assertRaisesRegex((TypeError, q.QuasarError), "a number or an array|no derivative"):
                q.vjp(f, self.x)
        with self.assertRaisesRegex(TypeError, r"one real number, got \(3,\)"):
            q.grad(q.wave)(self.x)
        with self.assertRaisesRegex(TypeError, "argnums must be positions among 1 arguments"):
            q.grad(q.total, 1)(self.x)
        with self.assertRaisesRegex(TypeError, "derivatives are taken to positional arguments, and the call has none"):
            q.grad(lambda a: a*a)(a=2.0)
        self.assertEqual(q.grad(lambda a, b: a*b, argnums=np.int64(1))(2.0, 3.0), 2)
        with self.assertRaisesRegex(TypeError, r"argnums names an argument twice: \(0, -1\)"):
            q.grad(q.total, (0, -1))(self.x)
        with self.assertRaisesRegex(TypeError, "takes one adjoint, of the form of the result: .*; got 2 arguments"):
            q.vjp(lambda x: (x, x), self.x)[1](self.x, self.x)
        for pushed in (lambda: q.vjp(q.total, self.x)[1](1j), lambda: q.jvp(q.total, (self.x,), (1j*np.ones(3),))):
            with self.assertRaisesRegex(TypeError, "0 must be real, as its value is, got "):
                pushed()
        with self.assertRaisesRegex(TypeError, "hessian: .* must give one real number"):
            q.hessian(q.wave)(self.x)
        with self.assertRaisesRegex(TypeError, "gradcheck: there is no float among the arguments"):
            q.gradcheck(q.total, np.array([1, 2]))

    def test_integers_have_no_derivative(self):
        """By their types, or as a function declares them; Python's own numbers, and lists of them, are floats."""
        q.compile_string("integers", """
            function y = power(x : vec, n : int)
                y = sum(x.^n)
            end
            function y = scaled(x : vec, k : scalar)
                y = sum(x)*k
            end
            function y = free(x)
                y = sum(x.*x)
            end
            function y = either(x, n : int)
                y = sum(x)*n
            end
            function y = either(x, n : vec)
                y = sum(x)*sum(n)
            end""")
        taken = {"grad": lambda f, x, k: q.grad(f, argnums=k)(*x),
                 "value_and_grad": lambda f, x, k: q.value_and_grad(f, argnums=k)(*x),
                 "jacobian": lambda f, x, k: q.jacobian(f, argnums=k)(*x),
                 "hessian": lambda f, x, k: q.hessian(f, argnums=k)(*x),
                 "jvp": lambda f, x, k: q.jvp(f, x, [1.0 if i == k else None for i in range(len(x))]),
                 "hvp": lambda f, x, k: q.hvp(f, x, [1.0 if i == k else None for i in range(len(x))])}
        declared = "argument n of power is declared int, and derivatives are taken to floats and complex numbers"
        integers = [np.int64(3), np.array(3), np.arange(3), True, np.array([True]), q.value(np.arange(3))]
        integers += [torch.tensor(3), torch.arange(3)] if torch else []
        for what, take in taken.items():
            for n in (3, 3.0):
                for f, x, k in ((q.power, (self.x, n), 1), (functools.partial(q.power, self.x), (n,), 0),
                                (q.custom_vjp(q.power), (self.x, n), 1)):
                    with self.assertRaisesRegex(TypeError, what + ": " + declared):
                        take(f, x, k)
            for n in integers:
                with self.assertRaisesRegex(TypeError, what + ": argument 0 is (a number|an array) of (int64|bool), "
                                                              "and derivatives are taken to floats"):
                    take(q.free, (n,), 0)
        with self.assertRaisesRegex(TypeError, declared):
            q.jacobian(q.grad(q.power), argnums=1)(self.x, 3)
        with self.assertRaisesRegex(TypeError, "^grad: " + declared):
            q.grad(q.checkpoint(q.power), argnums=1)(self.x, 3)
        self.assertEqual(q.grad(q.checkpoint(q.power))(self.x, 3).tolist(), q.grad(q.power)(self.x, 3).tolist())
        self.assertEqual(q.grad(q.scaled, argnums=1)(self.x, 3), self.x.sum())
        self.assertEqual(q.grad(q.either, argnums=1)(self.x, np.ones(2)).tolist(), [self.x.sum()]*2)
        self.assertEqual((q.grad(q.free)(3), q.grad(lambda x: x*x)(3)), (6.0, 6.0))
        self.assertEqual(q.grad(q.free)([1, 2]).tolist(), [2.0, 4.0])
        self.assertEqual(q.jacobian(lambda x: x*x)((3, 4)).tolist(), [[6.0, 0.0], [0.0, 8.0]])
        self.assertEqual(q.hessian(q.free)([3, 4]).tolist(), [[2.0, 0.0], [0.0, 2.0]])
        np.testing.assert_allclose(q.grad(q.power)(self.x, 3), 3*self.x**2)
        np.testing.assert_allclose(q.jvp(q.power, (self.x, 3), (np.ones(3), None))[1], (3*self.x**2).sum())
        self.assertIsNone(q.vjp(q.power, self.x, 3.0)[1](1.0)[1])
        self.assertTrue(q.gradcheck(q.power, self.x, 3))

    def test_gradcheck_looks_at_each_element(self):
        m = q.compile_string("nearly", """
            {!adjoint nearly_rule}
            function y = nearly(x)
                y = sum(x.^2)
            end
            function dx = nearly_rule(x, y, dy)
                dx = 2*x*dy
                dx[250] *= 1.01
            end""")
        with self.assertRaisesRegex(ValueError, "nearly: along argument 0, element 250, differences give 4.383.* the "
                                                "sweep back gives 4.427"):
            q.gradcheck(m.nearly, np.ones(500))
        with self.assertRaisesRegex(ValueError, "nearly: along argument 0, element 250, "):
            q.gradcheck(m.nearly, np.ones(1500))  # of which every second is looked at
        self.assertTrue(q.gradcheck(lambda z: q.real(z*z), np.array([1 + 2j, 3 - 1j])))

    def test_any_number_of_parts(self):
        x = np.arange(600)/600
        np.testing.assert_allclose(q.jacobian(lambda x: x**2)(x), np.diag(2*x))
        self.assertEqual(q.hessian(lambda x: (x**3).sum())(x).shape, (600, 600))
        np.testing.assert_allclose(q.grad(lambda x: np.stack([k*x[k] for k in range(600)]).sum())(x), np.arange(600))
        np.testing.assert_allclose(q.grad(lambda x: np.concatenate([x]*300).sum())(x), 300)

    def test_how_large_an_object_of_python_is(self):  # one that is asked here is a loop over the first layer alone
        for name in ("numel", "size", "ndims", "isempty"):
            f = q.compile_string("large", "how_large = x -> %s(x)" % name).how_large
            with self.assertRaisesRegex(q.QuasarError, name + ": x must be a value of the language .* got pyvalue"):
                f([{"w": 1}, {"w": 2}])

    def test_what_is_written_into_memory_of_others(self):  # who would read a constant
        q.compile_string("others", """
            function [] = __kernel__ doubled(x : vec, y : vec, pos : int)
                y[pos] = 2*x[pos]
            end
            function [] = fill(x, out)
                out[:] = 2*x
            end
            function [] = grow(x, out)
                out += 2*x
            end
            function [] = store(x, out)
                out[0] = x[0]
            end
            function [] = inside(x, out)
                o = {out}
                o[0][:] = 2*x
            end""")
        given = []

        def shown(take):
            z = q.zeros(3)
            given.append(take(z))
            return z
        others = [lambda: np.zeros(3), lambda: array.array("d", [0.0]*3), lambda: np.zeros(6)[::2],
                  lambda: q.value(np.zeros(3)), lambda: q.value(np.zeros(3))[:], lambda: shown(np.asarray),
                  lambda: shown(memoryview)]
        if torch:
            others += [lambda: torch.zeros(3), lambda: shown(torch.from_dlpack)]
        own = [lambda: q.zeros(3), lambda: q.copy(np.zeros(3)), lambda: q.value([0.0]*3)]
        writes = {"y": lambda x, y: q.parallel_do(3, x, y, q.doubled), "out": lambda x, y: q.fill(x, out=y),
                  "this array": lambda x, y: q.grow(x, y)}
        for name, write in writes.items():
            def f(x, y):
                write(x, y)
                return q.sum(y)
            for make in others:
                wanted = "writing into %s has no derivative: it is memory of others" % name
                with self.assertRaisesRegex(ValueError, wanted):
                    q.grad(lambda x: f(x, make()))(self.x)
                self.assertEqual(q.grad(lambda a: f(self.x, make())*a)(1.0), 12)  # a constant
            for make in own:
                self.close(q.grad(lambda x: f(x, make()))(self.x), [2, 2, 2])
        for write in q.store, q.inside, lambda x, y: q.serial_do(3, x, y, q.doubled):
            with self.assertRaisesRegex(ValueError, "is memory of others"):
                q.jvp(lambda x: (write(x, y := np.zeros(3)), q.value(y))[1], (self.x,), (self.x,))

    def test_a_dict_in_a_function_of_a_program(self):
        m = q.compile_string("with_dict", """
            function y = line(p, x)
                y = sum((p.a.*x + p.b).^2)
            end""")
        p = {"a": np.ones(3), "b": 1.0}
        with self.assertRaisesRegex(AttributeError, r'has no fields: write d\["a"\], or pass q.value\(d\), an object'):
            q.grad(m.line)(p, self.x)
        self.assertEqual(q.grad(m.line)(q.value(p), self.x).b, 2*float(np.sum(np.asarray(self.x) + 1)))

    VIEWS = {"row": lambda a: a[1], "slice": lambda a: a[:, 1:], "of a view": lambda a: a[:, ::2].T[1:],
             "turned": lambda a: a.T, "shaped": lambda a: a.reshape(-1), "swapped": lambda a: a.swapaxes(0, 1),
             "ravel": lambda a: a.ravel(), "wider": lambda a: a[None], "narrower": lambda a: a[None].squeeze(),
             "diagonal": lambda a: a.diagonal(1), "iterated": lambda a: list(a)[0], "by NumPy": np.transpose}

    def test_views_of_halves(self):
        import numpy as np
        x = np.arange(1, 13).astype("float16").reshape(3, 4)
        for view in self.VIEWS.values():
            got = np.asarray(q.grad(lambda a: q.sum(view(a)*view(a)))(x))
            wanted = np.asarray(q.grad(lambda a: q.sum(view(a)*view(a)))(x.astype("float64")))
            self.assertEqual(got.dtype, np.float16)
            self.assertTrue(np.array_equal(got, wanted), (got, wanted))

    def test_views_are_not_changed_in_place(self):  # neither they, nor what they are views of
        def doubled(a):
            a *= 2
        def by_script(a):
            q.halve(a)
        q.compile_string("views", "function [] = halve(a)\n a[:, :] = a*0.5\nend")
        for name, view in self.VIEWS.items():
            for change in (doubled, by_script):
                for which in (0, 1):
                    def f(x):
                        a = x*1
                        pair = a, view(a)
                        change(pair[which])
                        return (pair[0]*1).sum() + (pair[1]*1).sum()
                    if change is by_script and len(view(np.ones((2, 3))).shape) != 2 and which:
                        continue
                    with self.subTest(name, change=change.__name__, which=which), \
                            self.assertRaisesRegex(ValueError, "in place of which Python has another view"):
                        q.grad(f)(np.arange(1., 7).reshape(2, 3))

    def test_what_is_changed_in_place(self):  # where no view is left, or what looks like one is none
        def f(x):
            a, v = x @ np.ones((3, 3)), x[1].copy()
            b = a[1:].sum()
            for row in a:
                b += row.sum()
            del row
            a *= x.sum()
            v += 1
            alone = (x*3)[0]
            alone += 1
            flat = a.flatten()
            a -= 1
            return a.sum()*b + (v*v).sum() + (alone*flat[:3]).sum()
        x = np.arange(1., 7).reshape(2, 3)/8
        self.assertTrue(q.gradcheck(f, x))
        self.assertEqual(q.value_and_grad(f)(x)[0], f(q.value(x)))

    def test_trees(self):
        p = {"w": np.array([0.5, 1]), "b": 1.0, "name": "linear", "n": 3, "deep": [np.ones(2), (np.array([2.0]), 2.0)]}
        x = np.array([1.0, 2])

        def loss(p, x):
            y = p["w"]*x + p["b"]
            return (y*y).sum()*p["deep"][1][1] + p["deep"][0].sum()*p["deep"][1][0][0]
        value, (dp, dx) = q.value_and_grad(loss, argnums=(0, 1))(p, x)
        self.assertEqual(list(dp), list(p))
        self.assertEqual((dp["w"].tolist(), dp["b"], dp["name"], dp["n"]), ([6, 24], 18.0, None, None))
        self.assertEqual((dp["deep"][0].tolist(), dp["deep"][1][0].tolist(), dp["deep"][1][1]), ([2, 2], [2], 11.25))
        self.assertEqual((value, dx.tolist()), (26.5, [3, 12]))
        self.assertEqual(q.vjp(loss, p, x)[1](1.0)[0]["w"].tolist(), [6, 24])
        self.assertEqual(q.jvp(loss, (p, x), ({**p, "name": None, "n": None}, None))[1],
                         6*.5 + 24 + 18 + 4 + 4 + 2*11.25)
        self.assertTrue(q.gradcheck(loss, p, x))
        h = q.hvp(lambda p: (p["a"]*p["a"]*p["b"]).sum(), ({"a": x, "b": 3.0},), ({"a": x, "b": 1.0},))[0]
        self.assertEqual((h["a"].tolist(), h["b"]), ([8, 16], 10.0))
        inner = q.grad(lambda a: q.grad(lambda p: (p["x"]*p["x"]*a).sum())({"x": x})["x"].sum())
        self.assertEqual(inner(2.0), 6.0)
        turned = {"a": x, "b": x}

        def turning(p):  # what the function does to its dict afterwards is not the form of the gradient
            turned["a"] = turned.pop("a")
            return (2*p["a"]).sum() + (3*p["b"]).sum()
        self.assertEqual({k: v.tolist() for k, v in q.grad(turning)(turned).items()}, {"a": [2, 2], "b": [3, 3]})
        many = {str(i): np.ones(2) for i in range(200)}
        self.assertEqual(len(q.grad(lambda p: sum((v*v).sum() for v in p.values()))(many)), 200)

    def test_trees_of_the_language(self):
        q.compile_string("trees", """
            y = (p, x) -> sum((p.w.*x + p.b).^2)
            z = (p, x) -> sum((p[0].*x + p[1]).^2)""")
        x = np.array([1.0, 2])
        g = q.grad(q.y)(q.value({"w": x, "b": 1.0}), x)
        self.assertEqual((g._kind, g.w.tolist(), g.b), ("object", [4, 20], 14.0))
        g = q.grad(q.z)(q.evaluate("{[1.0,2.0],1.0}"), x)
        self.assertEqual((g._kind, g[0].tolist(), g[1]), ("cell", [4, 20], 14.0))
        g = q.grad(lambda p: q.y(q.value(p), x))({"w": x, "b": 1.0})
        self.assertEqual((g["w"].tolist(), g["b"]), ([4, 20], 14.0))
        three = q.evaluate("3.0")  # a number of the language
        self.assertEqual(q.vjp(lambda a: a*a, three)[1](1.0), (6.0,))

    def test_text_is_no_use_of_a_value(self):  # it can be printed
        def f(x):
            return (x*x).sum() if "3" in str(x) and str(x[0]) == "1" and repr(x*2) else 0*x[0]
        self.close(q.grad(f)(self.x), 2*self.x)

    def test_names_of_others(self):
        for name, here in (("jacrev", "jacobian"), ("vmap", "jax_op"), ("Tape", "value_and_grad")):
            with self.assertRaisesRegex(AttributeError, "pyquasar has no %s: .*%s" % (name, here)):
                getattr(q, name)
        with self.assertRaisesRegex(AttributeError, "unknown name jacobean"):
            q.jacobean

    def test_dataclasses(self):
        @dataclasses.dataclass
        class Model:
            w: object
            b: float
            name: str = "linear"
        m, x = Model(self.x, 2.0), self.x
        g = q.grad(lambda m: (m.w*x).sum()*m.b)(m)
        self.assertEqual((type(g), g.w.tolist(), g.b, g.name), (Model, [2, 4, 6], 14.0, None))
        self.assertEqual(q.jvp(lambda m: m.w*m.b, (m,), (Model([1.0, 0, 0], 1.0, None),))[1].tolist(), [3, 2, 3])

    def test_checkpoints_beside_threads_that_draw(self):
        turn, done, drawn = threading.Semaphore(0), threading.Semaphore(0), []

        def draw():
            while turn.acquire() and len(drawn) < 4:
                drawn.append(q.rand(5).tolist())
                done.release()

        def meanwhile():
            turn.release()
            done.acquire()

        def f(x):
            a = q.rand(3)
            meanwhile()
            b = q.rand(3)
            own.append(a.tolist() + b.tolist())
            return q.sum(x*a*b)
        other, own = threading.Thread(target=draw), []
        other.start()
        try:
            q.randseed(3)
            dx = q.grad(q.checkpoint(f))(self.x)
            after = q.rand(40).tolist()
            q.grad(q.checkpoint(f))(self.x)
        finally:
            drawn += [[]]*4
            turn.release()
            other.join()
        self.assertEqual((own[0], own[2]), (own[1], own[3]))  # the second time, the same ones
        self.assertTrue(np.allclose(dx, np.multiply(own[0][:3], own[0][3:])))
        numbers = sum(drawn, own[0] + own[2] + after)
        self.assertEqual((len(numbers), len(set(numbers))), (72, 72))

    def test_a_checkpoint_draws_what_its_function_would(self):
        def next_of(f):
            q.randseed(3)
            return q.grad(lambda x: q.sum(f(x)*q.rand(3)))(self.x).tolist(), q.rand()
        f = lambda x: x*q.rand(3)*q.checkpoint(lambda x: x*q.rand(3))(x)
        self.assertEqual(next_of(f), next_of(q.checkpoint(f)))

    def test_derivatives_have_memory_of_their_own(self):
        same, x, d = (lambda x: x), q.value([1.0, 2, 3]), np.ones(3, "float32")
        y, dy = q.jvp(same, (x,), (d,))
        z, pull = q.vjp(same, x)
        value, aux = q.value_and_grad(lambda x: (q.sum(x), x), has_aux=True)(x)[0]
        for result in y, z, aux:  # as in a call
            self.assertTrue(np.shares_memory(np.asarray(result), np.asarray(x)))
        for derivative in dy, pull(d)[0], q.grad(q.sum)(x):
            for given in d, np.asarray(x), np.asarray(y):
                self.assertFalse(np.shares_memory(np.asarray(derivative), given))

    def test_what_is_made_of_functions_pickles(self):
        for f in q.total, squares, again, ruled:
            makers = [q.grad, q.jacobian, q.hessian, q.value_and_grad, lambda f: q.grad(f, (0,)), lambda f: f]
            makers += [q.checkpoint, lambda f: q.grad(q.checkpoint(f))]
            for made in makers:
                here, there = made(f), pickle.loads(pickle.dumps(made(f)))
                self.assertEqual(str(there(self.x)), str(here(self.x)))
                if made is not q.checkpoint or f is not q.total: self.assertEqual(there.__name__, here.__name__)
        self.assertEqual([pickle.loads(pickle.dumps(f)) for f in (again, ruled)], [again, ruled])
        other = q.custom_vjp(squares)
        other.defvjp(ruled_forward, ruled_back)
        self.assertEqual(str(q.grad(pickle.loads(pickle.dumps(other)))(self.x)), str(q.grad(other)(self.x)))
        with self.assertRaises((pickle.PicklingError, AttributeError)):  # it depends on the version of Python
            pickle.dumps(q.grad(lambda x: x))

    def test_gradcheck_says_why(self):
        for f, why in ((lambda x: q.sum(x*q.rand(3)), "; the function draws random numbers: give them to it"),
                       (lambda x: (x*x*1.1).astype("float32"),
                        "; its result is float32, of which .* compute in float64"),
                       (lambda x: next(changing)*x, "; the function gives something else each time")):
            changing = iter(range(99))
            with self.assertRaisesRegex(ValueError, "differences give .*" + why):
                q.gradcheck(f, self.x)

    def test_rules_of_functions_of_python(self):
        calls = []

        @q.custom_vjp
        def f(x, y=2.0):
            "x times the sine of y"
            return x*q.sin(y)

        def fwd(x, y):
            calls.append("fwd")
            return f(x, y), (x, y)

        def bwd(kept, dz):
            calls.append("bwd")
            x, y = kept
            return q.sin(y)*dz, q.sum(x*dz)*q.cos(y)
        x = np.array([0.5, 1.0, 2.0])
        with self.assertRaisesRegex(AttributeError, r"f: a derivative is taken, and defvjp\(fwd, bwd\) has not"):
            q.grad(lambda x: q.sum(f(x)))(x)
        f.defvjp(fwd, bwd)
        self.assertEqual((f.__name__, f.__doc__, f(1.0, 0.0), calls), ("f", "x times the sine of y", 0.0, []))
        dx, dy = q.grad(lambda x, y: q.sum(f(x, y)**2), (0, 1))(x, 0.3)
        self.assertEqual(calls, ["fwd", "bwd"])
        self.assertTrue(np.allclose(dx, 2*x*np.sin(0.3)**2))
        self.assertAlmostEqual(dy, np.sin(0.6)*np.sum(x**2))
        self.assertTrue(np.allclose(q.grad(lambda x: q.sum(f(x, y=x[0]).copy()))(x),
                                    [np.sin(0.5) + 3.5*np.cos(0.5), np.sin(0.5), np.sin(0.5)]))
        self.assertTrue(q.gradcheck(lambda x, y: f(x, y), x, 0.3))
        self.assertTrue(q.gradcheck(q.grad(lambda x, y: q.sum(f(x, y)**3)), x, 0.3))
        self.assertTrue(np.allclose(q.hessian(lambda y: q.sum(f(x, y)))(0.3), -3.5*np.sin(0.3)))
        third = q.grad(q.grad(q.grad(lambda y: f(1.0, y))))
        self.assertAlmostEqual(third(0.3), -np.cos(0.3))
        self.assertTrue(np.allclose(q.hvp(lambda x: q.sum(f(x, x[0])), (x,), (np.ones(3),))[0],
                                    q.hvp(lambda x: q.sum(x*q.sin(x[0])), (x,), (np.ones(3),))[0]))

    def test_what_rules_may_take_and_give(self):
        def rule(fwd, bwd, **how):
            f = q.custom_vjp(lambda *args: fwd(*args)[0], **how)
            f.defvjp(fwd, bwd)
            return f
        x = np.array([0.5, 1.0, 2.0])
        # trees; what has no float has no adjoint
        f = rule(lambda p, how: ({"y": p["a"]*p["b"], "n": 3}, p),
                 lambda p, dy: ({"a": 5*dy["y"], "b": None, "c": None}, None))
        dp = q.grad(lambda p: q.sum(f(p, "fast")["y"]))({"a": x, "b": 2.0, "c": 3})
        self.assertEqual((dp["a"].tolist(), dp["b"], dp["c"]), ([5, 5, 5], 0.0, None))
        # several results, of which one is not used
        seen = []
        f = rule(lambda x: ((x*x, 3*x), x),
                 lambda x, dy: (seen.append([d.tolist() for d in dy]), (2*x*dy[0] + 3*dy[1],))[1])
        self.assertEqual(q.grad(lambda x: q.sum(f(x)[1]))(x).tolist(), [3, 3, 3])
        self.assertEqual(seen, [[[0]*3, [1]*3]])
        self.assertTrue(np.allclose(q.jacobian(lambda x: f(x)[0])(x), np.diag(2*x)))
        # arguments that have no adjoint
        f = rule(lambda n, x, g: (g(x)*n, x),
                 lambda n, g, x, dy: (n*dy*(2*x if g is square else 1),), nondiff_argnums=(0, 2))
        square = lambda x: x*x
        self.assertEqual(q.grad(lambda x: q.sum(f(3, x, square)))(x).tolist(), (6*x).tolist())
        with self.assertRaisesRegex(TypeError, "argument 0 is one of nondiff_argnums, and a derivative depends on it"):
            q.grad(lambda x: f(x, x, square))(2.0)
        # a result that others have gets no trace: an argument, an array of the program
        own = q.value(np.ones(3))
        f = rule(lambda x: (own, None), lambda _, dy: (7*dy,))
        self.assertEqual(q.grad(lambda x: q.sum(f(x)) + q.sum(own*own))(x).tolist(), [7, 7, 7])
        self.assertFalse(own._recorded)
        f = rule(lambda x: (x, None), lambda _, dy: (7*dy,))
        self.assertEqual(q.grad(lambda x: q.sum(f(x)*x))(x).tolist(), (8*x).tolist())
        # complex numbers, as everywhere; float32
        f = rule(lambda z: (z*z, z), lambda z, dy: (q.conj(2*z)*dy,))
        z = np.array([1 + 2j, 3 - 1j])
        self.assertEqual(q.grad(lambda z: q.sum(q.abs(f(z))))(z).tolist(),
                         q.grad(lambda z: q.sum(q.abs(z*z)))(z).tolist())
        self.assertEqual(str(q.grad(lambda x: q.sum(q.real(f(x))))(np.float32([1, 2])).dtype), "float32")

        class Layer:
            @q.custom_vjp
            def call(self, x):
                return x*x
            call.defvjp(lambda self, x: (x*x, x), lambda x, dy: (None, 9*x*dy))
        self.assertEqual(q.grad(lambda x: q.sum(Layer().call(x)))(x).tolist(), (9*x).tolist())

    def test_rules_that_are_wrong(self):
        def attempt(error, why, fwd, bwd, f=lambda f, x: q.sum(f(x, 2.0))):
            rule = q.custom_vjp(lambda x, y: x*y)
            rule.defvjp(fwd, bwd)
            with self.assertRaisesRegex(error, why):
                q.grad(lambda x: f(rule, x))(self.x)
        fwd, outer = (lambda x, y: (x*y, (x, y))), []
        attempt(TypeError, "bwd must give a tuple of 2 adjoints, one of each argument, got 1", fwd, lambda k, dz: (dz,))
        attempt(TypeError, "bwd must give a tuple of 2 adjoints, .* got qvalue", fwd, lambda k, dz: dz)
        attempt(TypeError, r"argument 0 must be .* of the shape of its value, \(3,\); bwd gave a number", fwd,
                lambda k, dz: (1.0, None))
        attempt(TypeError, r"argument 0 must be .*, \(3,\); bwd gave one of \(2,\)", fwd, lambda k, dz: (dz[:2], None))
        attempt(TypeError, "argument 0 must be a number or an array, .* bwd gave str", fwd, lambda k, dz: ("no", None))
        attempt(ValueError, "not today", fwd, lambda k, dz: self.fail_with(ValueError("not today")))
        attempt(TypeError, "the adjoint that a rule gives must be real, as its value is", fwd,
                lambda k, dz: (1j*dz, None))
        attempt(TypeError, r"fwd must give a tuple \(result, what bwd gets\), got qvalue",
                lambda x, y: x, abs)
        attempt(TypeError, "must give numbers or arrays", lambda x, y: (None, x), lambda k, dz: (dz, None))
        attempt(ValueError, "is not written: write into copy", fwd, lambda k, dz: self.add_to(dz) or (dz, None))
        attempt(ValueError, "custom_vjp has no derivative: its function uses a value that a derivative depends on",
                lambda x, y: (x*outer[0], x), lambda k, dz: (dz, None),
                lambda f, x: outer.append(x) or q.sum(f(x*x, 1.0)))
        attempt(ValueError, "draws random numbers: a derivative of its derivative",
                lambda x, y: (x*q.rand(3), x), lambda x, dz: (x*dz, None),
                lambda f, x: q.sum(q.grad(lambda x: q.sum(f(x, 2.0)))(x)))
        for wrong in (lambda: q.custom_vjp(3), lambda: q.custom_vjp(abs).defvjp(abs, 3)):
            self.assertRaisesRegex(TypeError, "must be a function, got int", wrong)

    @staticmethod
    def fail_with(error):
        raise error

    @staticmethod
    def add_to(dz):
        dz += 1

    def test_rules_leave_nothing_behind(self):
        class Mark:
            pass
        f = q.custom_vjp(lambda x: x*x)
        f.defvjp(lambda x: (x*x, (x, mark)), lambda k, dy: (2*k[0]*dy,))
        mark = Mark()
        gone = weakref.ref(mark)
        q.grad(lambda x: q.sum(f(f(x))))(self.x)
        q.vjp(f, self.x)
        mark = None
        gc.collect()
        self.assertIsNone(gone())

    def test_checkpoints_of_trees(self):
        def step(p, s=1.0):
            return {"a": np.sin(p["a"])*s + p["b"], "b": p["b"]*p["a"].sum(), "n": p["n"] + 1, "t": (p["a"][0], 2.0)}

        def chain(step):
            def f(p):
                for _ in range(3):
                    p = step({**p, "t": 0}, s=0.5)
                self.assertEqual(p["n"], 3)
                return p["a"].sum() + p["b"].sum()*p["t"][0]*p["t"][1]
            return f
        kept = q.checkpoint(step)
        p = {"a": self.x/3, "b": np.array([0.1, 0.2, 0.3]), "n": 0}
        for taken in (q.grad, lambda f: lambda p: q.hvp(f, (p,), ({**p, "n": None},))[0]):
            got, wanted = taken(chain(kept))(p), taken(chain(step))(p)
            self.close(got["a"], wanted["a"])
            self.close(got["b"], wanted["b"])
        p = {k: q.value(v) for k, v in p.items()}
        self.assertEqual(chain(kept)(p), chain(step)(p))
        for f, message in ((lambda a: (a, a.astype("float32")), "one type of elements, got float32, float64"),
                           (lambda a: (3, "a"), "must give floats")):
            with self.assertRaisesRegex(TypeError, message):
                q.grad(lambda x: q.checkpoint(f)(x)[0].sum())(self.x)

    def test_trees_that_fit_not(self):
        for f in (lambda: q.grad(lambda p: 1.0)({"n": 1}), lambda: q.grad(lambda p: 1.0)({})):
            with self.assertRaisesRegex(TypeError, "grad: there is no float among the arguments"):
                f()
        with self.assertRaisesRegex(TypeError, "jvp: tangent 0 must have the form of its value, a tree with 'a', 'b'; "
                                               "got a tree with 'a'"):
            q.jvp(lambda p: p["a"]*p["b"], ({"a": 1.0, "b": 2.0},), ({"a": 1.0},))
        with self.assertRaisesRegex(TypeError, "the adjoint that the pullback of <lambda> takes must have the form of "
                                               "its value, a tree with 0, 1; got float"):
            q.vjp(lambda x: [x, x], 1.0)[1](1.0)
        with self.assertRaisesRegex(TypeError, "one real number, got a tree with 'loss'; .* has_aux=True"):
            q.grad(lambda x: {"loss": x})(1.0)

    def test_the_order_of_keys_says_nothing(self):
        p, t = {"a": 2.0, "b": 3.0}, {"b": 1.0, "a": 0.0}
        self.assertEqual(q.jvp(lambda p: p["a"]*p["a"]*p["b"], (p,), (t,))[1], 4)
        self.assertEqual(q.hvp(lambda p: p["a"]*p["a"]*p["b"], (p,), (t,)), ({"a": 4.0, "b": 0.0},))
        self.assertEqual(q.vjp(lambda a: {"u": 2*a, "v": 3*a}, 1.0)[1]({"v": 1.0, "u": None}), (3.0,))

    def test_trees_of_results(self):
        Pair = collections.namedtuple("Pair", "u v")
        y, pullback = q.vjp(lambda x, a: {"s": [x.sum(), a*2], "p": Pair(x*a, 1.5)}, self.x, 2.0)
        self.assertEqual((list(y), y["s"][0], y["p"].v), (["s", "p"], 6.0, 1.5))
        dx, da = pullback({"s": [1.0, 1.0], "p": Pair([1.0, 0, 0], 0.0)})
        self.assertEqual((dx.tolist(), da), ([3, 1, 1], 3.0))
        y, dy = q.jvp(lambda a: [a*a, (a, 2.0)], (3.0,), (1.0,))
        self.assertEqual((y, dy), ([9.0, (3.0, 2.0)], [6.0, (1.0, 0.0)]))
        self.assertTrue(q.gradcheck(lambda p: {"y": q.sin(p["x"]), "z": [p["x"].sum()]}, {"x": self.x}))

    def test_jacobians_of_trees(self):
        p, x = {"w": np.arange(6.0).reshape(2, 3), "b": np.ones(2), "n": 2}, self.x

        def f(p, x):
            y = p["w"] @ x + p["b"]
            return {"y": y*y, "t": [y.sum(), x[0]*p["b"]]}
        y, eye = p["w"] @ x + 1, np.eye(2)
        for wide in (1, 30):  # sweeps back, and forward
            whole = (lambda p, x: {**f(p, x), "wide": q.cat(0, *[x.reshape(1, 3)]*wide)})
            dp, dx = q.jacobian(whole, 0)(p, x), q.jacobian(whole, 1)(p, x)
            self.close(dp["y"]["w"], np.einsum("i,ij,k->ijk", 2*y, eye, x))
            self.close(dp["y"]["b"], np.diag(2*y))
            self.close(dp["t"][0]["w"], np.tile(x, (2, 1)))
            self.close(dp["t"][1]["b"], x[0]*eye)
            self.assertIsNone(dp["y"]["n"])
            self.close(dx["t"][1], np.outer(np.ones(2), [1, 0, 0]))
            self.close(dx["wide"][-1], np.eye(3))
        both = q.jacobian(f, (1, 0))(p, x)
        self.close(both["t"][0][0], p["w"].sum(0))
        self.close(both["t"][0][1]["b"], [1, 1])
        found = q.jacobian(lambda z: q.real(z*z*(1 + 2j)), 0)(np.array([1 + 1j, 2.0]))
        one = q.grad(lambda z: q.real(z*z*(1 + 2j)).sum())(np.array([1 + 1j, 2.0]))
        self.close(found, np.diag(np.asarray(one)))
        self.close(q.jacobian(lambda z: q.cat(0, q.real(z*z), q.imag(z)))(np.array([1 + 1j]))[1], [[1j]])
        with self.assertRaisesRegex(TypeError, "gives complex numbers; take it of their real and imaginary parts"):
            q.jacobian(lambda z: z*z)(np.array([1j]))
        with self.assertRaisesRegex(TypeError, "jacobian: there is no float among the arguments"):
            q.jacobian(lambda p: 1.0)({"n": 1})

    def test_hessians_of_trees(self):
        p, x = {"w": self.x, "b": 2.0, "name": "n"}, np.array([1.0, 0.5, 2])
        h = q.hessian(lambda p, x: (p["w"]**2*x).sum()*p["b"])(p, x)
        self.close(h["w"]["w"], np.diag(4*x))
        self.close(h["w"]["b"], 2*p["w"]*x)
        self.close(h["b"]["w"], 2*p["w"]*x)
        self.assertEqual((h["b"]["b"], h["b"]["name"], h["name"]), (0.0, None, None))
        (hww, hwx), (hxw, hxx) = q.hessian(lambda w, x: (w**2*x).sum(), (0, 1))(self.x, x)
        for got, wanted in ((hww, 2*x), (hwx, 2*self.x), (hxw, 2*self.x), (hxx, 0*x)):
            self.close(got, np.diag(wanted))
        c = q.hessian(q.evaluate("p -> p[0]^2*sum(p[1])"))(q.evaluate("{3.0,[1.0,2.0]}"))
        self.assertEqual((c[0][0], c[0][1].tolist(), c[1][0].tolist()), (6.0, [6, 6], [6, 6]))
        third = q.jacobian(q.hessian(lambda p: p["a"]**3*p["b"]))({"a": 2.0, "b": 5.0})
        self.assertEqual((third["a"]["a"]["a"], third["b"]["a"]["a"], third["b"]["b"]["b"]), (30.0, 12.0, 0.0))

    def test_what_comes_beside_the_value(self):
        def f(p, x):
            y = p["a"]*x
            return (y*y).sum(), {"y": y, "name": "f", "n": [3, None]}
        (value, aux), dp = q.value_and_grad(f, has_aux=True)({"a": 2.0}, self.x)
        self.assertEqual((value, dp, aux["y"].tolist(), aux["name"], aux["n"]),
                         (56.0, {"a": 56.0}, [2, 4, 6], "f", [3, None]))
        dx, aux = q.grad(f, 1, has_aux=True)({"a": 2.0}, self.x)
        self.assertEqual(dx.tolist(), [8, 16, 24])
        # what is beside it is recorded by a derivative around it
        through = q.grad(lambda a: q.grad(lambda x: ((x*x).sum(), a*x), has_aux=True)(self.x)[1].sum())
        self.assertEqual(through(1.0), 6)
        with self.assertRaisesRegex(TypeError, r"with has_aux=True a function gives a tuple \(value, aux\), got float"):
            q.grad(lambda a: 1.0, has_aux=True)(1.0)

    def test_sizes_of_adjoints(self):
        q.compile_string("sizes", """
            {!adjoint area_rule}
            function y = area(w, s)
                y = sum(w)*s
            end
            function [dw, ds] = area_rule(w, s, y, dy)
                dw = s*dy
                ds = sum(w)*dy
            end""")
        x = np.ones((2, 3))
        with self.assertRaisesRegex(q.QuasarError, "the adjoint of w must have the size of its value, 2x3, got a num"):
            q.grad(q.area)(x, 2.0)
        self.assertEqual(q.grad(q.area, 1)(x, 2.0), 6)
        pullback = q.vjp(lambda x: x*2, x)[1]
        with self.assertRaisesRegex(q.QuasarError, "adjoint 0 must have the size of its value, 2x3, got 3x2"):
            pullback(x.T)
        with self.assertRaisesRegex(q.QuasarError, "tangent 0 must have the size of its value, 2x3, got a number"):
            q.jvp(lambda x: x*2, (x,), (1.0,))

    def test_no_result(self):
        def forgot(x):
            (x*x).sum()
        x, nothing = self.x, q.evaluate("function [] = nothing(x)\n y = x\nend\nnothing")
        for f in (forgot, nothing, lambda x: ((x*x).sum(), None)):
            for taken in (q.grad(f), q.value_and_grad(f), q.hessian(f), q.jacobian(f), lambda x: q.vjp(f, x),
                          lambda x: q.jvp(f, (x,), (x,)), lambda x: q.hvp(f, (x,), (x,))):
                with self.assertRaisesRegex(TypeError, "must give a number or an array, it gave nothing"):
                    taken(x)

    def test_gradcheck(self):
        self.assertTrue(q.gradcheck(q.two, self.x, self.x))
        wrong = q.evaluate("{!adjoint wrong_adjoint}\nfunction y = wrong(x)\n y = x.^2\nend\n"
                           "function dx = wrong_adjoint(x, y, dy)\n dx = 3*x.*dy\nend\nwrong")
        with self.assertRaisesRegex(ValueError, "differences give"):
            q.gradcheck(wrong, self.x)


@unittest.skipUnless(np, "needs numpy")
class Threads(unittest.TestCase):
    """Derivatives that several threads take at once are their own."""
    def wrong(self, is_right):
        """How often, and with which errors; is_right(x, number of the thread) runs 300 times in each of four."""
        wrong = []

        def turns(k):
            x = np.full(4, float(k))
            for _ in range(300):
                try:
                    if not is_right(x, k): wrong.append(k)
                except Exception as e: wrong.append(repr(e))
        threads = [threading.Thread(target=turns, args=(k,)) for k in range(1, 5)]
        for t in threads: t.start()
        for t in threads: t.join()
        return wrong

    def test_gradients(self):
        self.assertEqual(self.wrong(lambda x, k: np.allclose(q.grad(q.cube)(x), 3*k*k)), [])
        self.assertEqual(self.wrong(lambda x, k: np.allclose(q.grad(lambda x: (x*x*x).sum())(x), 3*k*k)), [])

    def test_second_derivatives(self):
        self.assertEqual(self.wrong(lambda x, k: np.allclose(q.hvp(q.cube, (x,), (np.ones(4),))[0], 6*k)), [])

    @unittest.skipUnless(torch, "needs torch")
    def test_operators_of_torch(self):
        cube = q.torch_op(q.cube)

        def is_right(x, k):
            t = torch.tensor(x, requires_grad=True)
            cube(2*t).backward()
            return np.allclose(t.grad, 24*k*k)
        self.assertEqual(self.wrong(is_right), [])

    def test_what_a_pool_computes_inside_a_function_is_recorded(self):
        def shared(x):
            with ThreadPoolExecutor(2) as pool: return sum(pool.map(lambda i: x[i]*x[i], range(3)))
        np.testing.assert_allclose(q.grad(shared)(np.array([1.0, 2.0, 3.0])), [2, 4, 6])


@unittest.skipUnless(torch, "needs torch")
class OperatorsOfTorch(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.x = torch.rand(5, dtype=torch.float64, requires_grad=True)
        self.z = torch.rand(5, dtype=torch.float64, requires_grad=True)

    def test_pickles(self):
        text = pickle.dumps((q.torch_op(q.wave), q.torch_op(q.wave, name="pickled::wave")))
        f, named = pickle.loads(text)
        self.assertTrue(torch.autograd.gradcheck(f, self.x))
        self.assertIs(pickle.loads(pickle.dumps(named)), named)

    def test_second_derivatives_with_broadcasting(self):
        from torch.func import grad, hessian, jacfwd, jacrev, vmap
        leaves = torch.utils._pytree.tree_leaves
        op = q.torch_op(lambda x, w: x*w*w)
        both = (0, 1)
        twice = {"hessian": lambda f: hessian(f, both), "jacrev of jacrev": lambda f: jacrev(jacrev(f, both), both),
                 "jacfwd of jacrev": lambda f: jacfwd(jacrev(f, both), both),
                 "jacrev of jacfwd": lambda f: jacrev(jacfwd(f, both), both)}
        x, w = torch.rand(2, 3, dtype=torch.float64), torch.rand(3, dtype=torch.float64)
        for a, b in ((x, w), (w, x), (x, w[:1]), (x[:, :1], w)):
            for what, derivative in twice.items():
                got, wanted = (leaves(derivative(lambda x, w: g(x, w).sin().sum())(a, b))
                               for g in (op, lambda x, w: x*w*w))
                with self.subTest(what, shapes=(a.shape, b.shape)):
                    for y, z in zip(got, wanted):
                        self.assertEqual(y.shape, z.shape)
                        self.assertTrue(torch.allclose(y, z))
            for dims in ((0, None), (None, 0), (0, 0)):
                if dims == (0, 0) and len(a) != len(b):
                    continue
                got, wanted = (leaves(vmap(grad(lambda x, w: g(x, w).sin().sum(), both), dims)(a, b))
                               for g in (op, lambda x, w: x*w*w))
                with self.subTest("vmap of grad", shapes=(a.shape, b.shape), dims=dims):
                    self.assertTrue(all(y.shape == z.shape and torch.allclose(y, z) for y, z in zip(got, wanted)))

    def test_compiled_from_wherever_the_operator_is(self):
        """With symbols for extents, where torch.compile takes integers of objects for symbols, too."""
        op = q.torch_op(lambda x, w: x*w*w)

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.op = op

            def forward(self, x, w):
                return self.op(x, w)

        def local(x, w):
            f = op
            return f(x, w)

        def default(x, w, f=op):
            return f(x, w)
        of_list, part = [op], functools.partial(op, w=torch.rand(4, requires_grad=True))
        places = {"a global": lambda x, w: GLOBAL(x, w), "a local": local, "a closure": lambda x, w: op(x, w),
                  "an attribute": Model(), "a list": lambda x, w: of_list[0](x, w), "a default": default,
                  "partial": lambda x, w: part(x)*w}
        globals()["GLOBAL"] = op
        for place, f in places.items():
            for dynamic in (False, True):
                torch._dynamo.reset()
                compiled = torch.compile(f, fullgraph=True, dynamic=dynamic, backend="aot_eager")
                for rows in (3, 5):
                    x, w = torch.rand(rows, 4, requires_grad=True), torch.rand(4, requires_grad=True)
                    got, wanted = (torch.autograd.grad(g(x, w).sin().sum(), (x, w)) for g in (compiled, f))
                    with self.subTest(place, dynamic=dynamic, rows=rows):
                        self.assertTrue(all(map(torch.allclose, got, wanted)))

    def test_derived_gradients(self):
        check, again = torch.autograd.gradcheck, torch.autograd.gradgradcheck
        f, two = q.torch_op(q.wave), q.torch_op(q.two)
        self.assertTrue(check(f, self.x, check_forward_ad=True) and again(f, self.x))
        self.assertTrue(check(two, (self.x, self.z)) and again(two, (self.x, self.z)))
        affine = q.torch_op(q.affine)
        self.assertTrue(torch.equal(affine(self.x), self.x*2 + self.x.sqrt()))
        self.assertTrue(check(lambda x: affine(x, 3.0), self.x))
        python = q.torch_op(lambda x: q.sum(q.exp(x)))
        self.assertTrue(check(python, self.x))
        some, = torch.autograd.grad(two(self.x, self.z.detach())[1], self.x)
        self.assertTrue(torch.allclose(some, self.z))

    def test_kernels(self):
        k = q.torch_op(q.stencil, out="y")
        x = torch.rand(4, 5, dtype=torch.float64, requires_grad=True)
        self.assertEqual(k(x, 2.0).shape, x.shape)
        self.assertTrue(torch.autograd.gradcheck(lambda x: k(x, 2.0), x))
        self.assertTrue(torch.autograd.gradgradcheck(lambda x: k(x, 2.0), x))
        with self.assertRaisesRegex(TypeError, "out names w, which is no parameter"):
            q.torch_op(q.stencil, out="w")
        with self.assertRaisesRegex(TypeError, "stencil is a kernel: out= names what it writes"):
            q.torch_op(q.stencil)
        in_place = q.compile_string("in_place", """
            function [] = __kernel__ twice(x : vec, pos : int)
                x[pos] = 2*x[pos]
            end""")
        with self.assertRaisesRegex(TypeError, "twice: out names all parameters, .* takes it as one parameter"):
            q.torch_op(in_place.twice, out="x")
        filled = q.torch_op(in_place.twice, out={"x": (3,)})
        self.assertEqual(filled().tolist(), [0, 0, 0])
        for x, kind in (([1.0, 2.0], "list"), (np.ones(2) if np else (), "ndarray" if np else "tuple")):
            with self.assertRaisesRegex(TypeError, "wave: argument x must be a tensor or a number, got %s; "
                                                   r"torch.from_numpy\(x\) makes" % kind):
                q.torch_op(q.wave)(x)

    def test_transformations(self):
        f, x = q.torch_op(q.wave), self.x.detach()

        def same(x):
            return torch.sin(x)*x
        for made in (torch.func.jacrev, torch.func.jacfwd, lambda f: torch.func.hessian(lambda x: f(x).sum()),
                     lambda f: torch.func.grad(lambda x: f(x).sum()),
                     lambda f: lambda x: torch.func.jvp(f, (x,), (x + 1,))[1],
                     lambda f: lambda x: torch.vmap(f)(torch.stack([x, 2*x]))):
            self.assertTrue(torch.allclose(made(f)(x), made(same)(x)))

    def test_compile(self):
        for op, args in ((q.torch_op(q.wave), (self.x,)), (q.torch_op(q.two), (self.x, self.z))):
            self.assertEqual(set(torch.library.opcheck(op, args).values()), {"SUCCESS"})
        f = q.torch_op(q.wave)
        torch.compile(lambda x: f(x)*2, fullgraph=True, backend="aot_eager")(self.x).sum().backward()
        self.assertTrue(torch.allclose(self.x.grad, 2*(self.x.cos()*self.x + self.x.sin())))

    def test_compiled_transforms(self):
        f, x = q.torch_op(q.wave), self.x.detach()
        slope = torch.func.grad(lambda x: f(x).sum())
        ones = torch.ones_like(x)

        def dual(x, t):
            with torch.autograd.forward_ad.dual_level():
                y = torch.autograd.forward_ad.unpack_dual(f(torch.autograd.forward_ad.make_dual(x, t)))
                return y.primal, y.tangent
        for made, args in ((lambda x, t: torch.func.jvp(f, (x,), (t,)), (x, ones)), (slope, (x,)), (dual, (x, ones)),
                           (lambda x, t: torch.func.jvp(slope, (x,), (t,)), (x, ones)),
                           (torch.func.grad(lambda x: slope(x).sum()), (x,)),
                           (torch.func.vmap(slope), (torch.stack([x, 2*x]),)), (torch.func.jacfwd(f), (x,)),
                           (lambda x: torch.func.vjp(f, x)[1](ones), (x,))):
            torch._dynamo.reset()
            torch.testing.assert_close(torch.compile(made, backend="aot_eager")(*args), made(*args))
        for name in dir(torch.ops.quasar):  # torch.compile wants a name for each argument
            overload = getattr(getattr(torch.ops.quasar, name), "default", None)
            names = [a.name for a in overload._schema.arguments] if hasattr(overload, "_schema") else []
            self.assertEqual(len(set(names)), len(names), names)

    def test_a_tensor_for_a_number_loses_no_derivative(self):
        m = q.compile_string("declared", """
            function y = scaled(x, b : scalar)
                y = b*x
            end
            function [] = __kernel__ shifted(x : vec, b : scalar, y : vec, pos : int)
                y[pos] = x[pos] + b
            end""")
        f, k, x, b = q.torch_op(m.scaled), q.torch_op(m.shifted, out="y"), self.x.detach(), torch.tensor(2.0)

        def dual():
            with torch.autograd.forward_ad.dual_level():
                f(x, torch.autograd.forward_ad.make_dual(b, b))
        for differentiate in (lambda: f(x, b.clone().requires_grad_()), lambda: k(x, b.clone().requires_grad_()),
                              lambda: torch.func.grad(lambda b: f(x, b).sum())(b), dual,
                              lambda: torch.func.jvp(lambda b: f(x, b), (b,), (b,))):
            with self.assertRaisesRegex(TypeError, "argument b is a tensor of which derivatives are taken, but the "):
                differentiate()
        self.assertTrue(torch.equal(f(x, b), 2*x))
        with torch.no_grad():
            self.assertTrue(torch.equal(k(x, b.clone().requires_grad_()), x + 2))

    def test_complex_numbers_are_as_in_torch(self):
        op = q.torch_op(lambda z: q.exp(z)*z)
        z = torch.complex(self.x.detach(), self.z.detach()).requires_grad_()
        self.assertTrue(torch.autograd.gradcheck(op, z))


@unittest.skipUnless(np, "needs numpy")
class FunctionsOfNumPy(unittest.TestCase):
    def test_what_calls_a_method_or_an_operator_is_recorded(self):
        x = np.array([1.0, 2.0, 4.0])
        for f, wanted in ((np.sum, [1, 1, 1]), (np.mean, [1/3]*3), (np.max, [0, 0, 1]), (np.min, [1, 0, 0]),
                          (np.prod, [8, 4, 2]), (lambda v: np.sum(v, axis=0), [1, 1, 1]),
                          (lambda v: np.cumsum(v).sum(), [3, 2, 1]), (lambda v: np.reshape(v, (3, 1)).sum(), [1, 1, 1]),
                          (lambda v: np.add(v, v).sum(), [2, 2, 2]), (lambda v: np.power(v, 2).sum(), [2, 4, 8]),
                          (lambda v: np.abs(v).sum(), [1, 1, 1]), (lambda v: np.matmul(v, v), [2, 4, 8]),
                          (lambda v: (np.ones(3)*v).sum(), [1, 1, 1])):
            self.assertTrue(np.allclose(q.grad(f)(x), wanted), wanted)

    def test_functions_of_the_language(self):
        x = np.arange(1., 4)/4
        for f in (np.sin, np.exp, np.log1p, np.arcsin, np.sqrt, np.tanh, lambda v: np.hypot(v, x), np.conjugate,
                  lambda v: np.arctan2(v, 2.0), lambda v: np.add(v, v)*np.matmul(v, v)):
            self.assertTrue(q.gradcheck(lambda v: f(v).sum(), x))
            np.testing.assert_allclose(float(q.value_and_grad(lambda v: f(v).sum())(x)[0]), f(x).sum(), rtol=1e-12)

    def test_elements_that_move(self):
        x, A = np.arange(1., 4)/4, np.arange(1., 7).reshape(2, 3)/8
        for f, *at in (
                (lambda v: np.concatenate([v, [1.0, 2], v*2]), x), (lambda v: np.concatenate([v, A], 1), A),
                (lambda v: np.stack([v, x, v], axis=1), x), (lambda v: np.stack([v[0], v[2], 3]), x), (np.vstack, A),
                (lambda v: np.hstack([v, v]), A), (lambda v: np.column_stack([v, v*v]), x),
                (lambda v: np.block([[v, v], [A, 2*v]]), A), (lambda v: np.roll(v, 2), x),
                (lambda v: np.roll(v, (1, -1), (0, 1)), A), (np.flip, A), (np.rot90, A),
                (lambda v: np.tile(v, (2, 2)), A),
                (lambda v: np.repeat(v, [1, 0, 3]), x), (lambda v: np.expand_dims(v, 1), A), (np.atleast_2d, x),
                (lambda v: np.broadcast_to(v, (4, 3)), x), (lambda v: np.moveaxis(v, 0, 1), A),
                (lambda v: np.take(v, [[0, 2], [1, 1]]), A), (lambda v: np.delete(v, 1, axis=1), A),
                (lambda v: np.pad(v, 2), A), (lambda v: np.pad(v, ((1, 0), (2, 1)), "reflect"), A), (np.tril, A),
                (lambda v: np.pad(v, 1, mode="wrap"), x), (np.triu, A), (np.diag, x), (lambda v: np.split(v, 3)[1], x),
                (lambda v: np.where(v > 0.3, v*v, 0), x), (lambda v: np.where([[True], [False]], v, v[0]), A),
                (lambda v: np.append(v, 1.0), x), (lambda v: np.insert(v, 1, v[2]), x),
                (lambda v: np.select([v > 0.6, v > 0.3], [v, v*v]), x), (lambda v: np.sort(-v), x),
                (lambda v: np.insert(v, 1, values=2.0, axis=0), x), (lambda v: np.append(arr=v, values=[7.0, 8]), x),
                (lambda v: np.select([v > 0.6], [v], default=3.0), x), (lambda v: np.roll(a=v, shift=1), x),
                (lambda v: np.pad(array=v, pad_width=1, mode="edge"), x), (lambda v: np.diff(a=v, axis=-1), x),
                (lambda v: np.sort(np.sin(9*v), axis=0), A), (lambda v: np.sort(np.sin(9*v), axis=None), A),
                (lambda v: np.take_along_axis(v, np.array([[1, 0]]), 1), A), (lambda v: np.transpose(v), A)):
            with self.subTest(f(*at)):
                self.check(f, *at)

    def test_products_and_systems(self):
        x, A, B = np.arange(1., 4)/4, np.arange(1., 7).reshape(2, 3)/8, np.array([[2., 1], [0.5, 3]])
        for f, *at in (
                (np.dot, x, x[::-1]), (np.dot, A, x), (lambda v: np.dot(B, v), A), (lambda v: np.dot(2.0, v), x),
                (np.inner, A, x), (np.inner, A, 2*A), (np.outer, x, A), (np.linalg.norm, x), (np.linalg.norm, A),
                (lambda v: np.linalg.norm(v, axis=1), A), (lambda v: np.linalg.norm(v, 2, -1, keepdims=True), A),
                (np.linalg.inv, B), (np.linalg.det, B), (lambda a, b: np.linalg.solve(a, b), B, x[:2]),
                (lambda a, b: np.linalg.solve(a, b), B, A), (lambda v: np.diff(v, 2), x),
                (lambda v: np.diff(v, axis=0), A),
                (np.maximum, x, x[::-1]*1.1), (lambda v: np.minimum(v, 0.4), A), (np.fmax, x, 0.4*np.ones(3)),
                (np.square, A), (lambda v: v*np.zeros_like(v) + v*np.full_like(v, 2.5), A), (np.ptp, x), (np.ravel, A),
                (np.trace, B), (np.average, A), (lambda v: np.average(v, 0, weights=A), A), (np.trapezoid, x),
                (lambda v: np.trapezoid(v, v*v), x), (np.fabs, -A), (np.logaddexp, x, 2*x),
                (lambda v: np.linalg.norm(v, 1), x), (lambda v: np.linalg.norm(v, np.inf, 1), A),
                (np.reciprocal, x), (np.sign, x), (np.deg2rad, x), (lambda v: v*np.isnan(v) + v*np.isfinite(v), x)):
            with self.subTest(f(*at)):
                self.check(f, *at)
        y = q.vjp(lambda v: np.maximum(v, [math.nan, 2.0, 2.0]), np.array([1.0, math.nan, 3]))[0]
        np.testing.assert_equal(np.asarray(y), [math.nan, math.nan, 3])  # other than q.max
        holes = np.array([[1, math.nan, 3], [4, 2, 4]])
        for f in (np.max, np.amin, lambda v: np.max(v, axis=0), lambda v: np.min(v, 1, keepdims=True), np.ptp,
                  lambda v: np.linalg.norm(v, np.inf, 1)):
            np.testing.assert_equal(np.asarray(q.vjp(f, holes)[0]), f(holes))

    def check(self, f, *at):
        """The values of NumPy, and the derivatives of differences, in the shapes of NumPy."""
        wanted = np.asarray(f(*at))
        value = q.vjp(lambda *v: f(*v), *at)[0]
        self.assertEqual(np.shape(value), wanted.shape)
        np.testing.assert_allclose(np.asarray(value), wanted, rtol=1e-14)
        self.assertTrue(q.gradcheck(f, *at))

    def test_others_are_errors(self):
        x = np.arange(1., 4)/4
        for f in (np.copysign, np.logaddexp2, lambda a, b: np.add.reduce(a), lambda a, b: np.gradient(a),
                  lambda a, b: np.pad(a, 1, "mean"), lambda a, b: np.pad(a, 1, constant_values=1),
                  lambda a, b: np.concatenate([a, b], dtype=np.float32), lambda a, b: np.linalg.norm(a, 3),
                  lambda a, b: np.take(a, 0, out=np.ones(()))):
            with self.assertRaisesRegex(TypeError, r"numpy\.[\w.]+ has no derivative here; functions of the language"):
                q.grad(lambda v: f(v, x).sum())(x)
        with self.assertRaisesRegex(TypeError, r"numpy\.gradient has"):  # and not what it calls
            q.grad(lambda v: np.gradient(v).sum())(x)
        for f, instead in ((lambda a: np.einsum("i->", a), "x @ y"), (lambda a: np.diff(a, prepend=0.0), "q.diff"),
                           (np.fft.fft, "q.fft1"), (np.median, "q.median"),
                           (lambda a: np.interp(0.5, a, a), "q.interp1"), (np.linalg.pinv, "q.pinv")):
            with self.assertRaisesRegex(TypeError, r"numpy\.\S+ has no derivative here; .*" + re.escape(instead)):
                q.grad(lambda v: f(v).sum())(x)
        for f in (lambda a, b: np.asarray(a), lambda a, b: np.array([a, b])):
            with self.assertRaisesRegex(TypeError, "NumPy computes with elements, .* np.stack"):
                q.grad(lambda v: f(v, x).sum())(x)


@unittest.skipUnless(torch, "needs torch")
class TheRecordOfTheForwardPass(unittest.TestCase):
    def setUp(self):
        self.runs = []

        def f(x, z):
            self.runs.append(1)
            return q.exp(x)*z
        self.op = q.torch_op(f)
        self.x, self.z = (torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True) for _ in range(2))

    def test_of_tensors_that_are_turned_where_they_are_read(self):
        op = q.torch_op(lambda z: z*z*2)
        z = torch.tensor([[1 + 2j, 0.5 - 1j], [2 - 0.3j, 1j]], dtype=torch.complex128, requires_grad=True)
        for turned in (torch.conj, lambda z: z.mH, torch._neg_view, lambda z: z.conj().imag, lambda z: z.conj().T):
            for f in (op, lambda z: op(z).real.sum()):
                self.assertTrue(torch.autograd.gradcheck(lambda z: f(turned(z)), z))
                self.assertTrue(torch.autograd.gradgradcheck(lambda z: f(turned(z)), z))

    def test_the_backward_pass_computes_nothing_again(self):
        y = self.op(self.x, self.z)
        for _ in range(2):
            y.sum().backward(retain_graph=True)
        self.assertEqual(len(self.runs), 1)
        self.assertTrue(torch.allclose(self.x.grad, 2*y) and torch.allclose(self.z.grad, 2*self.x.exp()))
        dx, = torch.autograd.grad(self.op(self.x, self.z).sum(), self.x, create_graph=True)
        second, = torch.autograd.grad(dx.sum(), self.x)
        self.assertTrue(torch.allclose(second, y))

    def test_no_record_where_no_gradient_is_wanted(self):
        with torch.no_grad():
            self.op(self.x, self.z)
        self.op(self.x.detach(), self.z.detach())
        y = self.op(self.x.detach(), self.z)
        y.sum().backward()
        self.assertIsNone(self.x.grad)
        self.assertTrue(torch.allclose(self.z.grad, self.x.exp()))

    def test_the_record_goes_with_what_torch_saves(self):
        def records():
            gc.collect()
            return sum(isinstance(t, torch.Tensor) and getattr(t, "record", None) is not None for t in gc.get_objects())
        y = self.op(self.x, self.z)
        self.assertEqual(records(), 1)
        y.sum().backward()
        self.assertEqual(records(), 0)
        y = torch.utils.checkpoint.checkpoint(self.op, self.x, self.z, use_reentrant=False)
        self.assertEqual(records(), 0)
        y.sum().backward()
        self.assertTrue(torch.allclose(self.x.grad, 2*y))

    def test_traced_programs_hold_no_record(self):
        from torch.fx.experimental.proxy_tensor import make_fx

        def slope(x, z):
            x = x.detach().requires_grad_()
            return torch.autograd.grad(self.op(x, z).sum(), x)[0]
        z = self.z.detach()
        for mode in ("real", "fake"):
            traced = make_fx(slope, tracing_mode=mode)(self.x.detach(), z)
            x = self.x.detach() + 1
            self.assertTrue(torch.allclose(traced(x, z), x.exp()*z), mode)

    def test_what_is_changed_meanwhile(self):
        y = self.op(self.x, self.z)
        wanted = y.detach().clone()
        y.mul_(2)  # a result: the record has its own
        y.sum().backward()
        self.assertTrue(torch.allclose(self.x.grad, 2*wanted))
        x = self.x.detach().clone().requires_grad_()
        y = self.op(x, self.z)
        with torch.no_grad():
            x.add_(1)  # an argument: torch tells
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            y.sum().backward()

    def test_within_torch_func(self):
        f = lambda x: self.op(x, self.z.detach()).sum()
        wanted = self.x.exp()*self.z
        self.assertTrue(torch.allclose(torch.func.grad(f)(self.x.detach()), wanted))
        rows = torch.func.vmap(torch.func.grad(f))(torch.stack([self.x.detach()]*3))
        self.assertTrue(torch.allclose(rows, wanted.expand(3, 2)))
        y = torch.func.vmap(lambda x: self.op(x, self.z))(torch.stack([self.x]*3))
        y.sum().backward()
        self.assertTrue(torch.allclose(self.x.grad, 3*wanted))


@unittest.skipUnless(jax, "needs jax")
class OperatorsOfJax(unittest.TestCase):
    def test_pickles(self):
        f, k = pickle.loads(pickle.dumps((q.jax_op(q.wave), q.jax_op(q.stencil, out="y"))))
        x = jax.numpy.linspace(0.5, 1.5, 5)
        self.assertTrue(jax.numpy.allclose(jax.grad(lambda x: f(x).sum())(x), jax.numpy.sin(x) + x*jax.numpy.cos(x)))
        self.assertEqual((f.__name__, k(jax.numpy.ones((2, 3)), 0.5).shape), ("wave", (2, 3)))
        with self.assertRaisesRegex(TypeError, "wave: argument x is an array of bfloat16; x.astype"):
            f(x.astype(jax.numpy.bfloat16))

    def test_transformations(self):
        jax.config.update("jax_enable_x64", True)
        np = jax.numpy
        f, x = q.jax_op(q.wave), np.linspace(0.5, 1.5, 5)

        def same(x):
            return np.sin(x)*x
        for made in (lambda f: f, jax.jit, jax.jacrev, jax.jacfwd, lambda f: jax.hessian(lambda x: f(x).sum()),
                     lambda f: jax.jit(jax.grad(lambda x: f(x).sum())),
                     lambda f: lambda x: jax.vmap(f)(np.stack([x, 2*x])),
                     lambda f: lambda x: jax.vmap(jax.grad(lambda x: f(x).sum()))(np.stack([x, 2*x]))):
            self.assertTrue(np.allclose(made(f)(x), made(same)(x)))
        two = q.jax_op(q.two)
        dx, dz = jax.grad(lambda x, z: two(x, z)[1] + two(x, z)[0].sum(), (0, 1))(x, x)
        self.assertTrue(np.allclose(dx, 2*x*x + x) and np.allclose(dz, x**2 + x))
        k = q.jax_op(q.stencil, out="y")
        self.assertEqual(float(jax.grad(lambda x: k(x, 2.0).sum())(np.ones((4, 5))).sum()), 2*20*3)

    def test_complex_numbers_are_as_in_jax(self):
        jax.config.update("jax_enable_x64", True)
        np = jax.numpy
        op, z = q.jax_op(lambda z: q.exp(z)*z), np.array([1 + 2j, 0.5 - 1j])
        got, wanted = (jax.vjp(f, z)[1](np.ones(2) + 1j)[0] for f in (op, lambda z: np.exp(z)*z))
        self.assertTrue(np.allclose(got, wanted))

    def test_derivatives_of_derivatives_of_complex_functions(self):
        jax.config.update("jax_enable_x64", True)
        np = jax.numpy
        z, w, t = np.array([0.7 + 0.4j, 1.2 - 0.3j]), np.array([1 + 2j, 0.5 - 1j]), np.array([0.3 + 1j, -0.2 + 0.1j])

        def loss(f):
            return lambda z: np.sum(np.real(f(z)*w))**2

        def steeper(f):
            return lambda z: np.sum(np.abs(jax.grad(f)(z))**2)
        for f, same in ((lambda z: 2j*z, lambda z: 2j*z), (lambda z: q.exp(z)*q.abs(z), lambda z: np.exp(z)*np.abs(z))):
            op = q.jax_op(f)
            for derivative in (lambda f: jax.grad(steeper(loss(f))), lambda f: jax.grad(steeper(steeper(loss(f)))),
                               lambda f: jax.grad(lambda z: np.abs(jax.jvp(jax.grad(loss(f)), (z,), (t,))[1]).sum())):
                self.assertTrue(np.allclose(derivative(op)(z), derivative(same)(z)))
        two = q.jax_op(lambda z, x: (z*x, q.abs(z)*q.conj(z)), results=2)
        same = lambda z, x: (z*x, np.abs(z)*np.conj(z))
        x = np.array([0.4, -1.3])
        got, wanted = (jax.grad(lambda x: steeper(loss(lambda z: f(z, x)[0]*f(z, x)[1]))(z))(x) for f in (two, same))
        self.assertTrue(np.allclose(got, wanted))

    def test_named_arguments_and_defaults(self):
        f, x = q.jax_op(q.affine), jax.numpy.ones(2)
        for y in f(x, a=3.0), f(a=3.0, x=x), jax.jit(f)(x, a=3.0), f(x) + 1, jax.vmap(lambda a: f(x, a=a))(x*3)[0]:
            self.assertEqual(y.tolist(), [4, 4])
        self.assertEqual(jax.grad(lambda x: f(x=x, a=3.0).sum())(x).tolist(), [3.5, 3.5])
        for call, why in ((lambda: f(a=1.0), "affine: argument x is missing"), (lambda: f(x, 1, 2), "got 3"),
                          (lambda: f(x, b=1), r"affine takes 2 arguments \(x, a\), got b"),
                          (lambda: f(x, x=1), "got x twice")):
            with self.assertRaisesRegex(TypeError, why):
                call()

    def ways(self):
        return (True, False) if hasattr(jax, "ffi") else (False,)

    def test_both_ways_give_the_same(self):
        x = jax.numpy.linspace(0.5, 1.5, 6).reshape(2, 3)
        for ffi in self.ways():
            for f, same in ((q.jax_op(q.wave, ffi=ffi), lambda x: jax.numpy.sin(x)*x),
                            (q.jax_op(q.stencil, out="y", dims=lambda x, s: x.shape, ffi=ffi), None)):
                args = (x,) if same else (x, 2.0)
                y, pull = jax.vjp(jax.jit(f), *args)
                y_now, dy = jax.jvp(f, args, tuple(jax.numpy.ones_like(a) for a in args))
                self.assertTrue(np.allclose(y, y_now))
                self.assertTrue(np.allclose(dy.sum(), sum(d.sum() for d in pull(jax.numpy.ones_like(y)))))
                if same:
                    self.assertTrue(np.allclose(y, same(x)))
            for shape in ((), (0,), (3, 0), (1, 1, 2)):
                self.assertEqual(q.jax_op(q.wave, ffi=ffi)(jax.numpy.ones(shape)).shape, shape)
            turned = jax.jit(lambda x, f=q.jax_op(q.wave, ffi=ffi): f(x.T))(x)
            self.assertTrue(np.allclose(turned, np.sin(x.T)*x.T))
            with self.assertRaisesRegex(Exception, "ValueError: not today"):
                q.jax_op(self.fails_later(), ffi=ffi)(x)
        with self.assertRaisesRegex(TypeError, "takes 1 arguments"):
            q.jax_op(q.wave)(x, x)

    @staticmethod
    def fails_later():
        calls = []

        def f(x):
            calls.append(1)
            if len(calls) > 1:  # the first finds out about shapes
                raise ValueError("not today")
            return q.value(x)*2
        return f

    @unittest.skipUnless(hasattr(jax, "ffi"), "needs jax.ffi, of JAX 0.5")
    def test_the_memory_is_that_of_jax(self):
        x, seen = jax.numpy.arange(16, dtype="float32"), []

        def look(x):
            if float(x[1]) == 1.0 and float(x[0]) == 0.0:  # the first run is on ones
                there.value = 5.0
                seen[:] = [float(x[0])]
                there.value = 0.0
            return x*2
        there = ctypes.c_float.from_address(x.unsafe_buffer_pointer())
        self.assertTrue(np.array_equal(q.jax_op(look)(x), 2*x))
        self.assertEqual(seen, [5.0])
        with self.assertRaisesRegex(Exception, "read-only"):
            q.jax_op(q.overwrites)(x)
        self.assertTrue(np.array_equal(q.jax_op(lambda x: x)(x), x))

    def test_what_a_function_keeps_gets_memory_of_its_own(self):
        kept, n = [], 40000

        def values(x):
            kept[:] = [x, x[4:9], q.stores(x)[7:]]
            return x*2

        def views(x):  # NumPy gets a copy
            kept[:] = [x, np.asarray(x)[4:9], memoryview(x)[7:]]
            q.stores(x)
            return x*2

        def fails(x):
            values(x)
            if float(x[0]) == 0:  # not in the first run, which is on ones
                raise ValueError("not today")
            return x

        def call(f):  # on memory of XLA, which goes
            return jax.jit(lambda x: f(x.cumsum() - x))(jax.numpy.ones(n)).block_until_ready()
        for ffi in self.ways():
            for f in values, views:
                self.assertTrue(np.array_equal(call(q.jax_op(f, ffi=ffi)), 2*np.arange(n)))
                self.check_kept(kept, np.arange(n), lambda: call(q.jax_op(q.wave, ffi=ffi)))
            with self.assertRaisesRegex(Exception, "not today"):
                call(q.jax_op(fails, ffi=ffi))
            self.check_kept(kept, np.arange(n), lambda: call(q.jax_op(q.wave, ffi=ffi)))

    def check_kept(self, kept, wanted, others):
        for other in range(3):
            others()
        for part, some in zip(kept, (slice(None), slice(4, 9), slice(7, None))):
            self.assertTrue(np.array_equal(np.asarray(part), wanted[some]))
        self.assertTrue(np.array_equal(np.asarray(q.stored()), wanted[10:20]))
        self.assertTrue(np.array_equal(np.asarray(q.stored_all()), wanted))

    @unittest.skipUnless(hasattr(jax, "ffi"), "needs jax.ffi, of JAX 0.5")
    def test_operators_live_as_long_as_jax_needs_them(self):
        from pyquasar import _jax_op
        x = jax.numpy.linspace(0.5, 1.5, 6)

        def alive():
            jax.clear_caches()
            gc.collect()
            return len(_jax_op._calls)
        before = alive()
        program = jax.jit(lambda x, f=q.jax_op(q.wave): jax.grad(lambda x: f(x).sum())(x)*2).lower(x).compile()
        q.jax_op(q.wave)(x)
        self.assertGreater(alive(), before)
        self.assertTrue(np.allclose(program(x), 2*(np.sin(x) + x*np.cos(x)), atol=1e-5))
        del program
        self.assertEqual(alive(), before)

    def test_shapes_where_ones_stop_the_function(self):
        jax.config.update("jax_enable_x64", True)
        a, x = np.eye(3) + 0.1*np.arange(9).reshape(3, 3), np.linspace(2.0, 3.0, 4)
        symmetric = a @ a.T
        for f, same, x in ((lambda a: q.inv(a), np.linalg.inv, a),
                           (lambda a: q.chol(a).T, np.linalg.cholesky, symmetric),
                           (lambda x: q.polyfit(x, x*2, 1), lambda x: np.polyfit(x, x*2, 1), x)):
            self.assertTrue(np.allclose(np.asarray(q.jax_op(f)(x)).ravel(), same(x).ravel()))
        slope = jax.grad(lambda a: q.jax_op(lambda a: q.inv(a))(a).sum())
        self.assertTrue(np.allclose(slope(a), jax.grad(lambda a: jax.numpy.linalg.inv(a).sum())(a)))

        def picky(x):
            if float(x[0]) < 5:
                raise ValueError("too small")
            return x*2
        x = np.arange(5.0, 9.0)
        with self.assertRaisesRegex(ValueError, "picky: a run on ones, .* stops: too small; shape= tells them"):
            q.jax_op(picky)(x)
        told = pickle.loads(pickle.dumps(q.jax_op(q.wave, shape=like_the_first)))
        for f, wanted in ((q.jax_op(picky, shape=lambda x: x), lambda x: x*2),
                          (q.jax_op(picky, shape=lambda x: jax.numpy.zeros(x.shape, x.dtype)), lambda x: x*2),
                          (told, lambda x: jax.numpy.sin(x)*x)):
            for made in lambda f: f, jax.jit:
                self.assertTrue(np.allclose(made(f)(x), made(wanted)(x)))
        slopes = [jax.grad(lambda x: f(x).sum())(x) for f in (told, lambda x: jax.numpy.sin(x)*x)]
        self.assertTrue(np.allclose(*slopes))
        s = jax.ShapeDtypeStruct
        for shape, wrong in ((lambda x: s((3,), x.dtype), r"of shape \(3,\) for result 0, and it is float64 of shape"),
                             (lambda x: s(x.shape, "float32"), "tells float32 .* for result 0, and it is float64"),
                             (lambda x: (x, x), "picky: shape= must give .* like each result, of which there are 1"),
                             (lambda x: None, "picky: shape= must give an array or a jax.ShapeDtypeStruct"),
                             (3, "jax_op: shape must be a function, got 3")):
            for ffi in self.ways():
                with self.assertRaisesRegex(Exception, wrong):
                    q.jax_op(picky, shape=shape, ffi=ffi)(x)
        with self.assertRaisesRegex(Exception, "tells int32 of shape .* for result 0, and it is float of shape"):
            q.jax_op(lambda x: q.sum(x)/3, shape=lambda x: s((), "int32"))(x)
        late = lambda x: x*2 if float(x[0]) < 5 else x*2j
        with self.assertRaisesRegex(Exception, "result 0 is complex, and was real when shapes were found"):
            q.jax_op(late)(x)
        wide = q.jax_op(late, shape=lambda x: s(x.shape, "complex128"))
        self.assertEqual([wide(x)[0], wide(x - 4)[0]], [10j, 2])
        k = q.jax_op(q.stencil, out="y", shape=lambda x, f: x)
        self.assertTrue(np.array_equal(k(np.ones((2, 3)), 0.5), np.ones((2, 3))))

    def test_types_of_numbers(self):
        jax.config.update("jax_enable_x64", True)
        n, same, add = 2**40 + 1, q.jax_op(lambda x: x*1), q.jax_op(lambda a, b: a + b)
        for y in same(jax.numpy.asarray(n)), same(n), q.jax_op(lambda x: q.sum(x))(jax.numpy.asarray([n])):
            self.assertEqual((int(y), y.dtype), (n, "float64"))
        single = jax.numpy.float32(1)
        for args, dtype in (((jax.numpy.float16(1), jax.numpy.float64(1)), "float64"), ((single, 0.1), "float32"),
                            ((jax.numpy.float16(1), single), "float32"), ((single, 0.5j), "complex64"),
                            ((0.1, 0.5j), "complex128")):
            for made in add, jax.jit(add):
                self.assertEqual(made(*args).dtype, dtype)
        self.assertEqual(jax.vmap(add, (0, None))(np.ones(3, "float32"), 0.1).dtype, "float32")
        self.assertEqual(jax.grad(add)(single, 0.1), 1)

    def test_a_shape_that_depends_on_values(self):
        q.compile_string("m", "function [] = __kernel__ three(x : vec, n : int, y : vec, pos : int)\n"
                              " y[pos] = x[0]*3\nend")
        for ffi in self.ways():
            f = q.jax_op(q.three, out={"y": lambda x, n: (int(n),)}, ffi=ffi)
            with self.assertRaisesRegex(Exception, "may depend on the shapes|cannot reshape"):
                f(jax.numpy.ones(2), 5)

    def test_sharded_arrays(self):
        code = '''if True:
            import os
            os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
            import jax, numpy as np, pyquasar as q
            from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
            q.init("cpu")
            q.compile_string("m", "function y = wave(x)\\n y = sin(x).*x\\nend")
            f, mesh = q.jax_op(q.wave), Mesh(np.array(jax.devices()), ("d",))
            x = jax.numpy.linspace(0.0, 1.0, 8)
            parts = jax.device_put(x, NamedSharding(mesh, P("d")))
            slope = jax.grad(lambda x: f(x).sum())
            each = lambda g: jax.jit(jax.shard_map(g, mesh=mesh, in_specs=P("d"), out_specs=P("d"), check_vma=False))
            for g, wanted in ((f, np.sin(x)*x), (slope, np.sin(x) + x*np.cos(x))):
                y = each(g)(parts)
                assert np.allclose(y, wanted, atol=1e-6) and len(y.sharding.device_set) == 2, y
                assert np.allclose(jax.jit(g)(parts), wanted, atol=1e-6)
            '''
        if not hasattr(jax, "shard_map"):
            self.skipTest("needs jax.shard_map")
        import subprocess, sys
        r = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(r.returncode, 0, r.stderr)


if __name__ == "__main__":
    unittest.main()
