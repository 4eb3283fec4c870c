"""Loops of the language over memory that NumPy shares out."""
import unittest

import pyquasar as q
from optional import library

np = library("numpy")


@unittest.skipUnless(np, "NumPy is not here")
class Views(unittest.TestCase):
    def test_views_of_one_array(self):
        """What one turn writes through a view another reads through a second one."""
        q.init("cpu")
        q.compile_string("shifts", "function [] = shift(x, y, n)\nfor i=0..n-1\nx[i] = y[i] + 1\nend\nend\n")
        a = np.zeros(1000001)
        q.shift(a[1:], a[:-1], 1000000)
        self.assertEqual(a[-1], 1000000)
        b = np.zeros(1000001)
        q.shift(b[:-1], b[1:], 1000000)
        self.assertEqual(b.sum(), 1000000)


if __name__ == "__main__":
    unittest.main()
