"""Loops of the language over memory that NumPy shares out."""
import unittest

import pyquasar as q
from optional import library

np = library("numpy")


@unittest.skipUnless(np, "NumPy is not here")
class Views(unittest.TestCase):
    def test_views_of_one_array(self):
        """One iteration writes through a view, and another reads through a second view."""
        q.init("cpu")
        q.compile_string("shifts", "function [] = shift(x, y, n)\nfor i=0..n-1\nx[i] = y[i] + 1\nend\nend\n")
        a = np.zeros(1000001)
        q.shift(a[1:], a[:-1], 1000000)
        self.assertEqual(a[-1], 1000000)
        b = np.zeros(1000001)
        q.shift(b[:-1], b[1:], 1000000)
        self.assertEqual(b.sum(), 1000000)

    def test_statements_index_objects_once(self):
        """Statements that could run together evaluate the operators of a Python object once."""
        class Queue:
            count = 0

            def __getitem__(self, at):
                self.count += 1
                return np.full(100000, self.count, np.float32)
        q.init("cpu")
        q.compile_string("queue", """
            function y = taken(x, z)
                a = x.*2
                b = a + z[0]
                y = b.*x
            end""")
        queue, x = Queue(), np.ones(100000, np.float32)
        for k in range(30): self.assertEqual(np.asarray(q.taken(x, queue))[7], 3 + k)
        self.assertEqual(queue.count, 30)

    def test_elementwise_calls_are_compiled(self):
        """A built-in or operator called from Python has bitwise the result of a script expression."""
        q.init("cpu")
        q.compile_string("calls", """
            function y = tanh_of(x)
                y = tanh(x)
            end
            function y = value_of(f, x)
                y = f(x)
            end
            function y = sum_of(x, z)
                y = x + z
            end""")
        x = np.linspace(-3, 3, 1_000_000, dtype=np.float32)
        strided = np.linspace(-3, 3, 2_000_000, dtype=np.float32).reshape(1000, 2000)[:, ::2]
        for v in (x, x.astype(np.float64), strided):
            want = np.asarray(q.tanh_of(v))
            for _ in range(2): self.assertTrue(np.array_equal(np.asarray(q.tanh(v)), want))
            self.assertTrue(np.array_equal(np.asarray(q.value_of(q.tanh, v)), want))
            np.testing.assert_allclose(want, np.tanh(v), rtol=1e-6)
        a, b = q.value(x), q.value(x[::-1].copy())
        for _ in range(4): self.assertTrue(np.array_equal(np.asarray(a + b), np.asarray(q.sum_of(a, b))))
        self.assertTrue(np.array_equal(np.asarray(a < b), x < x[::-1]))
        c = q.value(x.copy())
        for _ in range(4): c += b
        self.assertTrue(np.array_equal(np.asarray(c), x + x[::-1] + x[::-1] + x[::-1] + x[::-1]))

    def test_functions_that_call_themselves(self):
        q.init("cpu")
        q.compile_string("recursion", """
            function y = fib_of(n)
                if n < 2
                    y = n
                else
                    y = fib_of(n-1) + fib_of(n-2)
                end
            end
            function y = depth(n)
                if n < 0
                    error("below")
                end
                y = n == 0 ? 0 : 1 + depth(n-1)
            end""")
        for _ in range(3): self.assertEqual(q.fib_of(27), 196418)
        self.assertIs(type(q.fib_of(27)), type(q.fib_of(1)))
        for _ in range(400): self.assertEqual(q.depth(1000), 1000)
        with self.assertRaisesRegex(q.QuasarError, "below"): q.depth(10.5)
        self.assertEqual(q.depth(50000), 50000)


if __name__ == "__main__":
    unittest.main()
