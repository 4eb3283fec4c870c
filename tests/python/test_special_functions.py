"""Special functions against SciPy, in units of the last place, on the host and in kernels; calls with lists."""
import unittest

import numpy as np
import pyquasar as q

try:
    import scipy.special as special
except ImportError:
    special = None


def setUpModule(): q.init("cpu")


@unittest.skipIf(special is None, "SciPy is not installed")
class Accuracy(unittest.TestCase):
    def points(self, name, dtype):
        rng = np.random.default_rng(3)
        tiny = -300 if dtype is np.float64 else -36
        near_zero = 10**rng.uniform(tiny, 0, 2000)
        return {"erfinv": np.r_[rng.uniform(-1, 1, 3000), near_zero, 1 - 10**rng.uniform(-7, -1, 500)],
                "erfcinv": np.r_[rng.uniform(0, 2, 3000), near_zero],
                "factorial": np.r_[np.arange(171 if dtype is np.float64 else 35), rng.uniform(0, 30, 2000)],
                "rsqrt": near_zero}[name].astype(dtype)

    def far(self, name, dtype, compute):
        x = self.points(name, dtype)
        wide = x.astype(np.float64)
        with np.errstate(all="ignore"):
            if name == "rsqrt": want = 1/np.sqrt(wide)
            elif name == "factorial": want = np.where(wide < 0.5, special.gamma(wide + 1), wide*special.gamma(wide))
            else: want = getattr(special, name)(wide)
        got, want = np.asarray(compute(x)), want.astype(dtype)
        good = np.isfinite(want) & (want != 0)
        self.assertTrue(np.array_equal(got[~good], want[~good]))
        return float(np.max(np.abs(got - want)[good].astype(np.float64) / np.spacing(np.abs(want[good]))))

    def test_functions_are_within_units_of_the_last_place_of_scipy(self):
        q.compile_string("each", "\n".join(
            "function [] = __kernel__ run_%s(x : vec, y : vec, pos : int)\n y[pos] = %s(x[pos])\nend" % (n, n)
            for n in ("erfinv", "erfcinv", "factorial", "rsqrt")))
        for name, bound in (("erfinv", 8), ("erfcinv", 8), ("factorial", 12), ("rsqrt", 2)):
            def launch(x):
                y = np.empty_like(x)
                q.parallel_do(x.size, x, y, getattr(q, "run_" + name))
                return y
            for dtype in (np.float64, np.float32):
                for compute in (getattr(q, name), launch):
                    with self.subTest(name=name, dtype=dtype.__name__):
                        self.assertLessEqual(self.far(name, dtype, compute), bound)


class Lists(unittest.TestCase):
    def test_internal_names_are_no_calls_of_a_program(self):
        for text in ("$spread(max, \"*\", {1})", "$object(\"a\", 1)"):
            with self.assertRaisesRegex(q.QuasarError, "is not known"):
                q.evaluate(text)

    def test_lists_and_fields_as_arguments(self):
        self.assertEqual(q.evaluate("max(...{[1,5], [4,2]})").tolist(), [4, 5])
        self.assertEqual(q.evaluate("object(a := 3).a"), 3)
        for text, message in (("max(...{1}, a := 2)", "beside ...list"), ("object(a := 1, 2)", "object takes fields"),
                              ("$type(...{1})", "...list is not possible"), ("max(...(3))", "...list: arguments")):
            with self.subTest(text=text), self.assertRaisesRegex(q.QuasarError, message.replace(".", r"\.")):
                q.evaluate(text)


if __name__ == "__main__":
    unittest.main()
