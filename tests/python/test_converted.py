"""A write to the converted copy of an argument is an error, whichever variable, closure, field, loop or kernel makes
it; values made from the copy, and the results of the function, are ordinary arrays."""
import sys, traceback, unittest
import numpy as np
import pyquasar as q

# Each function writes to the elements of its argument in the line with "% here".
HOLDER = """
type holder : mutable class
    a : vec
end
"""
WRITES = """
function [] = plainly(x : vec)
    x[0] = 7 % here
end
function [] = by_variable(x : vec)
    y = x
    x = 0
    y[0] = 7 % here
end
function [] = by_swapping(x : vec)
    a = x
    [a, x] = [x, 3]
    a[0] = 1 % here
end
function [] = by_closure(x : vec)
    y = x
    f = () -> y[0] = 1 % here
    x = 0
    f()
end
function [] = by_field(x : vec)
    o = holder()
    o.a = x
    x = 0
    o.a[0] = 5 % here
end
function [] = by_item(x : vec)
    c = {x, 1}
    x = 0
    c[0][0] = 1 % here
end
function [] = by_loop(x : vec)
    y = x
    x = 0
    for i = 0..numel(y)-1
        y[i] = y[i] + i % here
    end
end
function [] = __kernel__ fill(y : vec, pos : int)
    y[pos] = 2
end
function [] = by_kernel(x : vec)
    y = x
    x = 0
    parallel_do(numel(y), y, fill) % here
end
function [] = by_expression(x : vec)
    y = x
    x = 0
    y[:] = y .* 2 + 1 % here
end
function [] = by_update(x : vec)
    y = x
    x = 0
    y += 1 % here
end
function [] = by_view(x : vec)
    y = reshape(x, [2, numel(x)/2])
    x = 0
    y[0,0] = 1 % here
end
function [] = writes(y)
    y[0] = 1 % here
end
function [] = by_function(x : vec)
    y = x
    x = 0
    writes(y)
end
function [] = twice_converted(x : vec)
    function [] = inner(z : vec[float64])
        y = z
        z = 0
        y[0] = 1 % here
    end
    inner(x)
end
""", "plainly by_variable by_swapping by_closure by_field by_item by_loop by_kernel by_expression by_update by_view " \
     "by_function twice_converted"

OTHERS = """
function g = writer(x : vec)
    g = () -> x[0] = 5
end
function o = held(x : vec)
    o = holder()
    o.a = x
end
function [] = write_held(o)
    o.a[0] = 5
end
function y = same(x : vec)
    y = x
end
function [y, z] = two(x : vec)
    y = x
    z = x + 1
end
function c = listed(x : vec)
    c = {x, 1}
end
function y = through(x : vec)
    y = same(x)
end
function y = written_copies(x : vec)
    y = x + 0
    y[0] = 7
    z = x[0..1]
    z[0] = 5
    t = copy(x)
    t[0] = 3
    x = x*2
    x[0] = 9
    y[1] = x[1] + z[0] + t[0]
end
function y = clipped(x : vec)
    y = x
    for i = 0..numel(y)-1
        if y[i] < 0
            y[i] = 0
        end
    end
end
function y = read_by_numpy(x : vec)
    y = pyimport("numpy").sum(x)
end
function [] = written_by_numpy(x : vec)
    pyimport("numpy").negative(x, x)
end
"""


class Converted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        q.init("cpu")
        q.compile_string("converted_others", HOLDER + OTHERS)
        q.compile_string("converted_writes", HOLDER + WRITES[0])

    @classmethod
    def tearDownClass(cls):
        q.destroy()

    def refused(self, call):
        """Returns the source lines of the traceback."""
        try:
            call()
        except q.QuasarLockError as e:
            self.assertRegex(str(e), "argument [xz] .* changes a copy converted to float(32|64) ")
            return [f.line for f in traceback.extract_tb(e.__traceback__)]
        self.fail("no error")

    def test_each_way_of_writing(self):
        for name in WRITES[1].split():
            for dtype in np.int64, np.uint8, np.bool_:
                for n in 6, 300000:
                    with self.subTest(name=name, dtype=dtype, n=n):
                        a = np.ones(n, dtype)
                        lines = self.refused(lambda: getattr(q, name)(a))
                        self.assertTrue(any("% here" in line for line in lines), lines)
                        self.assertTrue((a == 1).all())

    def test_the_same_writes_reach_memory_that_is_not_converted(self):
        for name in WRITES[1].split()[:-1]:
            with self.subTest(name=name):
                a = np.full(6, 3, np.float32)
                getattr(q, name)(a)
                self.assertFalse((a == 3).all())

    def test_after_the_call(self):
        a = np.arange(6)
        write, o = q.writer(a), q.held(a)
        for call in write, lambda: q.write_held(o):
            with self.assertWarnsRegex(q.QuasarWarning, "argument x is declared .* changes a copy converted"):
                call()
            call()  # the copy is an ordinary array from then on
        self.assertEqual((o.a[0], a[0]), (5, 0))

    def test_results_are_ordinary(self):
        a = np.arange(6)
        for y in q.same(a), q.two(a)[0], q.two(a)[1], q.listed(a)[0], q.through(a), q.same(q.same(a)):
            self.assertTrue(np.asarray(y).flags.writeable)
            y[0] = 9
            np.asarray(y)[1] = 8
            q.plainly(y)
            self.assertEqual([y[0], y[1]], [7, 8])
        self.assertEqual(list(a), list(range(6)))

    def test_values_made_from_the_copy_are_ordinary(self):
        self.assertEqual(list(q.written_copies(np.arange(6))), [7, 10, 2, 3, 4, 5])

    def test_reading_is_no_error(self):
        for n in 6, 1000000:
            a = np.arange(n)
            self.assertAlmostEqual(q.read_by_numpy(a) / a.sum(), 1, places=6)
            self.assertTrue((np.asarray(q.clipped(a)) == a).all())
        with self.assertRaisesRegex(ValueError, "read-only"):
            q.written_by_numpy(np.arange(6))

    def test_a_derivative_that_saves_the_copy(self):
        q.compile_string("converted_grad", """
            function z = saved(x : vec, w : vec)
                y = x
                z = sum(y .* w)
            end
            function [g, y] = of_saved(x : vec, w : vec)
                g = grad(v -> saved(x, v), w)
                y = x
                x = 0
                y[0] = 5
            end""")
        self.refused(lambda: q.of_saved(np.arange(3), np.ones(3, np.float32)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
