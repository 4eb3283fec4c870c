"""import pyquasar: arrays of the language where pandas takes arrays, each beside the same call with NumPy's.  What
pandas refuses names the type that it was given."""
import unittest, warnings
from unittest import mock

import pyquasar as q
from optional import library

np, pd = library("numpy"), library("pandas")

SELECT = {  # of a table t with columns a and b, by arrays: m, mm masks, v numbers, i places, w of the table's shape
    "t[m]": lambda t, x: t[x["m"]],
    "t.loc[m]": lambda t, x: t.loc[x["m"]],
    "t.loc[m, 'a']": lambda t, x: t.loc[x["m"], "a"],
    "t.iloc[m]": lambda t, x: t.iloc[x["m"]],
    "t.a.iloc[m]": lambda t, x: t.a.iloc[x["m"]],
    "t.iloc[i]": lambda t, x: t.iloc[x["i"]],
    "t.take(i)": lambda t, x: t.take(x["i"]),
    "t.reindex(i)": lambda t, x: t.reindex(x["i"]),
    "t.drop(i)": lambda t, x: t.drop(x["i"]),
    "t.query('@m')": lambda t, x: t.query("@m", local_dict=x),
    "t[mm]": lambda t, x: t[x["mm"]],
    "t.where(mm)": lambda t, x: t.where(x["mm"]),
    "t.a[m]": lambda t, x: t.a[x["m"]],
    "t.a.loc[m]": lambda t, x: t.a.loc[x["m"]],
    "t.a.where(m)": lambda t, x: t.a.where(x["m"]),
    "t.a.where(m, v)": lambda t, x: t.a.where(x["m"], x["v"]),
    "t.a.mask(m)": lambda t, x: t.a.mask(x["m"]),
    "t.a.isin(v)": lambda t, x: t.a.isin(x["v"]),
    "t.a.clip(v)": lambda t, x: t.a.clip(x["v"]),
    "t.a.searchsorted(v)": lambda t, x: t.a.searchsorted(x["v"]),
    "t.assign(y=v)": lambda t, x: t.assign(y=x["v"]),
    "t.merge(t, left_on=v, right_on=v)": lambda t, x: t.merge(t, left_on=x["v"], right_on=x["v"]),
    "t.T.dot(v)": lambda t, x: t.T.dot(x["v"]),
    "t.mul(v, axis=0)": lambda t, x: t.mul(x["v"], axis=0),
    "t.a + v": lambda t, x: t.a + x["v"],
    "v + t.a": lambda t, x: x["v"] + t.a,
    "t.a == v": lambda t, x: t.a == x["v"],
    "Series(v)": lambda t, x: pd.Series(x["v"]),
    "DataFrame(w)": lambda t, x: pd.DataFrame(x["w"]),
    "DataFrame({'x': v, 'm': m})": lambda t, x: pd.DataFrame({"x": x["v"], "m": x["m"]}),
    "Index(i)": lambda t, x: pd.Index(x["i"]),
    "cut(t.a, v)": lambda t, x: pd.cut(t.a, x["v"]),
    "Series(m)": lambda t, x: pd.Series(x["m"]),
    "Index(m)": lambda t, x: pd.Index(x["m"]),
    "isna(m)": lambda t, x: pd.isna(x["m"]),
    "(t.a > 1) & m": lambda t, x: (t.a > 1) & x["m"],
    "t.a == m": lambda t, x: t.a == x["m"],
    "unique(v)": lambda t, x: pd.unique(x["v"]),
    "crosstab(i, i)": lambda t, x: pd.crosstab(x["i"], x["i"]),
}
REFUSED = {
    "t.groupby(v).sum()": lambda t, x: t.groupby(x["v"]).sum(),
    "t.a.groupby(m).sum()": lambda t, x: t.a.groupby(x["m"]).sum(),
    "t.set_index(v)": lambda t, x: t.set_index(x["v"]),
    "t[m] = 0": lambda t, x: t.__setitem__(x["m"], 0),
    "t + w": lambda t, x: t + x["w"],
    "factorize(v)": lambda t, x: pd.factorize(x["v"]),
    "t.apply(q.mean)": lambda t, x: t.apply(q.mean),
}


def is_bool_indexer(key):
    """Asks as the function of that name does in pandas."""
    return key._typ


def table():
    return pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [10, 20, 30, 40]})


ASSIGNED = {
    "t['m'] = m": lambda t, x: t.__setitem__("m", x["m"]),
    "t['y'] = v": lambda t, x: t.__setitem__("y", x["v"]),
    "t.loc[m, 'a'] = 9": lambda t, x: t.loc.__setitem__((x["m"], "a"), 9.0),
    "t.loc[:, 'a'] = v": lambda t, x: t.loc.__setitem__((slice(None), "a"), x["v"]),
    "t.insert(0, 'z', v)": lambda t, x: t.insert(0, "z", x["v"]),
}


@unittest.skipUnless(pd, "pandas is missing")
class Pandas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        q.destroy()
        q.init("ref")
        cls.addClassCleanup(q.destroy)

    def setUp(self):
        self.theirs = {"m": np.array([True, False, True, False]), "v": np.array([5.0, 6, 7, 8]), "i": np.array([2, 0]),
                       "mm": np.array([[True, False]] * 4), "w": np.arange(8.0).reshape(4, 2)}
        self.ours = {name: q.from_numpy(a) for name, a in self.theirs.items()}

    def same(self, got, want):
        self.assertIs(type(got), type(want))
        if isinstance(want, np.ndarray):
            np.testing.assert_array_equal(got, want)
        else:
            self.assertTrue(got.equals(want), (got, want))

    def test_they_are_taken_as_those_of_numpy(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "unique with argument", FutureWarning)  # pandas 2
            for name, f in SELECT.items():
                with self.subTest(name):
                    self.same(f(table(), self.ours), f(table(), self.theirs))

    def test_they_are_assigned(self):
        for name, change in ASSIGNED.items():
            with self.subTest(name):
                got, want = table(), table()
                change(got, self.ours), change(want, self.theirs)
                self.same(got, want)

    def test_the_rest_is_an_error(self):
        for name, f in REFUSED.items():
            if name == "factorize(v)" and pd.__version__ < "3":
                continue  # it takes what is as good as an array
            with self.subTest(name):
                errors = TypeError, ValueError, AttributeError
                self.assertRaisesRegex(errors, "qvalue|array|mean", f, table(), self.ours)
                if "mean" not in name:
                    f(table(), {name: np.asarray(a) for name, a in self.ours.items()})

    def test_masks_before_pandas_3(self):
        """Its question is answered with another name; without, iloc[m] selects rows 1, 0, 1, 0."""
        with mock.patch.object(pd, "__version__", "2.3.3"):
            self.test_they_are_taken_as_those_of_numpy()
            self.test_they_are_assigned()
            self.assertEqual(self.ours["m"]._typ, "npy_extension")
            self.assertEqual(is_bool_indexer(self.ours["m"]), "extension")

    def test_numbers_and_functions_are_no_arrays(self):
        self.assertFalse(hasattr(q.value(2.5), "_typ"))
        self.assertFalse(hasattr(q.sin, "_typ"))


if __name__ == "__main__":
    unittest.main()
