"""Blocks of larger arrays: how far kernels read."""
import unittest

import pyquasar as q

PROGRAM = """
    function [] = __kernel__ box(x : mat'mirror, y : mat, r : int, pos : ivec2)
      total = 0.0
      for m = -r..r
        for n = -r..r
          total += x[pos+[m,n]]
        end
      end
      y[pos] = total/(2*r+1)^2
    end
    function y = host(x)
      y = x
    end"""


class Halo(unittest.TestCase):
    def setUp(self):
        q.init("cpu")
        self.addCleanup(q.destroy)
        self.m = q.compile_string("p", PROGRAM)

    def test_arguments_have_names(self):
        self.assertEqual(q.halo(self.m.box, r=3), (3, 3))
        self.assertEqual(q.halo(self.m.box, None, None, 2), (2, 2))

    def test_what_is_wrong_is_said(self):
        for call, what in ((lambda: q.halo(self.m.box), "value of r, which has to be given"),
                           (lambda: q.halo(self.m.box, k=1), "no parameter k; there are x, y, r"),
                           (lambda: q.halo(self.m.box, 1, 2, 3, 4), "takes 3 arguments"),
                           (lambda: q.halo(self.m.box, 1, x=2), "each of them once"),
                           (lambda: q.halo(self.m.host), "a kernel is wanted")):
            with self.assertRaisesRegex(Exception, what):
                call()


if __name__ == "__main__":
    unittest.main()
