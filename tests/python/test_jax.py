"""import pyquasar: arrays of JAX, which are constants: read in place, never written."""
import unittest

import pyquasar as q

try:
    import jax, jax.numpy as jnp, numpy as np
except ImportError:
    jax = None


@unittest.skipUnless(jax, "needs JAX")
class Jax(unittest.TestCase):
    def setUp(self):
        q.init("cpu")
        q.compile_string("jax", """
            function [] = __kernel__ inc(x : vec, pos : int)
                x[pos] += 1
            end
            function [] = __kernel__ add_one(x : vec, y : vec, pos : int)
                y[pos] = x[pos]+1
            end
            function y = same(x)
                y = x
            end""")

    def address(self, x):
        return np.asarray(x).__array_interface__["data"][0]

    def test_they_come_in_without_a_copy_and_read_only(self):
        for dtype in ("float32", "int32", "uint8", "bool", "complex64"):
            x = jnp.arange(6).reshape(2, 3).astype(dtype)
            for v in (q.value(x), q.from_jax(x), q.from_dlpack(x), q.descriptor(x), q.same(x)):
                self.assertEqual((v.shape, v.dtype, v.readonly), (x.shape, dtype, True))
                self.assertEqual(self.address(v), self.address(x))
                with self.assertRaises(q.QuasarError):
                    v[0, 0] = 1
        v = q.value(jnp.ones(3, jnp.bfloat16))  # which no buffer can hold
        self.assertEqual((v.dtype, v.readonly, v.tolist()), ("bfloat16", True, [1, 1, 1]))
        self.assertEqual(q.same(jnp.float32(2.5)), 2.5)

    def test_a_kernel_reads_them_and_does_not_write_them(self):
        x, y = jnp.arange(4, dtype=jnp.float32), q.zeros(4)
        q.parallel_do(4, x, y, q.add_one)
        self.assertEqual(y.tolist(), [1, 2, 3, 4])
        for z in (x, q.from_jax(x)):
            with self.assertRaisesRegex(ValueError, "inc: x is read-only, and the kernel writes to it"):
                q.parallel_do(4, z, q.inc)
        self.assertEqual(x.tolist(), [0, 1, 2, 3])

    def test_they_go_out(self):
        a = q.value([[1, 2, 3], [4, 5, 6]])
        for x in (q.to_jax(a), jax.dlpack.from_dlpack(a), jnp.asarray(a), jax.jit(lambda x: x * 1)(q.to_jax(a))):
            self.assertIsInstance(x, jax.Array)
            self.assertEqual((x.shape, x.dtype, x.tolist()), ((2, 3), jnp.float32, [[1, 2, 3], [4, 5, 6]]))
        fixed = q.value(jnp.ones(3))
        self.assertNotEqual(self.address(q.to_jax(fixed)), self.address(fixed))

    def test_keys_are_no_numbers(self):
        with self.assertRaises(TypeError):
            q.value(jax.random.key(0))


if __name__ == "__main__":
    unittest.main()
