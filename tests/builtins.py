#!/usr/bin/env python3
"""Built-ins for arrays against NumPy, SciPy and plain mathematics, called from Python with random arguments.

    tests/builtins.py [--seconds 20] [--seed N] [--only NAME …]      needs NumPy and SciPy

First every built-in that the table has for arrays is called with numbers: the result must be that of the same call with
float64 arrays of one element.  Which ones there are is read from docs/builtins.md, which is made from the table, so a
new one takes part by itself; what its parameters stand for is in SETTINGS, and anything that is not there is a number.

Then functions that others have, too, are called at random: all element types, numbers beside arrays, empty, strided and
reversed arrays, nan, infinities, the limits of integers.  A case below makes the arguments and says what must come out;
a difference is printed with what repeats it.  Shapes are not looked at here, values are."""
import argparse, math, os, re, sys, time, warnings
from progress import Progress

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(os.path.join(ROOT, "build/python"))
try:
    import numpy as np
    import scipy.integrate, scipy.interpolate, scipy.ndimage, scipy.signal
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(0)
import pyquasar as q

FLOATS, INTS = ["f2", "f4", "f8"], ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
REAL, COMPLEX = ["?"] + INTS + FLOATS, ["c8", "c16"]
WIDE = ("i4", "u4", "i8", "u8")


def flat(v):
    return np.asarray(v.to_py() if isinstance(v, q.qvalue) else v).ravel()


# -- every built-in with numbers -----------------------------------------------------------------------------------
GROUPS = ("Elementwise mathematics", "Numbers: conversion, complex parts, bits", "Shape", "Reductions and search",
          "Sets (vectors of numbers, cells of strings)", "Sampled functions",
          "Linear algebra (LAPACK; on the processor computed in float64)", "Fourier transforms")
ALSO = ("isequal", "isclose", "allclose", "zeros_like", "ones_like", "meshgrid")
# The arguments for parameters that are not numbers of the computation.
SETTINGS = {"dim": 0, "dims": 0, "order": [0, 1], "size": [1, 1], "from": 0, "to": 1, "ddof": 0, "k": 0, "r": 0, "n": 1,
            "degree": 0, "bins or edges": 2, "[lo, hi]": [-1e9, 1e9], "[r, c, ...]": [1, 1], "[dy, dx]": [0, 0],
            "\"descend\"": "descend", "mode": "full", "method": "linear", "outside": "extrap", "index": 0,
            "pos": [0, 0], "positions": 0, "[]": [], "tolerance": 0.0, "q": 0.5, "p": 50, "F": None}
POLYNOMIAL = ("polyval", "roots")  # p: its coefficients
NUMBERS = (0.1, -123456789.123, 1e-300, 3e300, 16777217.0, 1e-60, 0.8515680698511308, 1.0, 1 + 0.1j)
# They say of what type an argument is, make what a list makes, or take no number in any place.
APART = {"repmat": "makes what a list makes", "randperm": "random", "ones_like": "makes what a list makes",
         "int": "a number stays one", "float": "a number stays one", "cast_like": "a number stays one",
         "conv_planes_input": "a size of four", "conv_planes_weights": "a size of four",
         "cross": "three elements", "copy": "a number stays one", "ind2pos": "positions", "pos2ind": "positions",
         "size": "questions", "numel": "questions", "ndims": "questions", "isempty": "questions",
         "and": "of integers", "or": "of integers", "xor": "of integers", "not": "of integers", "shl": "of integers",
         "shr": "of integers", "zeros_like": "makes what a list makes", "lu": "at least two results"}


def table():
    """(name, parameters that must be given and others, of each form) of the built-ins for arrays."""
    group, out = "", []
    for line in open(os.path.join(ROOT, "docs/builtins.md"), encoding="utf-8"):
        if line.startswith("## "): group = line[3:].strip()
        row = re.match(r"\| `(.*?)` \| ", line)
        if not row: continue
        for form in re.split(r" or (?=\w+\()", row[1]):
            m = re.match(r"(?:.* = )?(\w+)\((.*)\)$", form.strip())
            if m and (group in GROUPS or m[1] in ALSO): out.append((m[1], parameters(m[2])))
    return out


def parameters(text):
    """[["a", "b"], ["mode"]] of "a, b [, mode]": those that must be given, and the others."""
    out, depth, last, optional = [[], []], 0, "", False
    for c in text.replace("[,", ",\0").replace(" [x", "[x"):
        if c == "\0": optional = True
        elif c == "," and not depth: out[optional].append(last.strip(" ]")); last = ""
        else:
            depth += {"[": 1, "]": -1}.get(c, 0)
            depth = max(depth, 0)
            last += c
    if last.strip(" ]"): out[optional].append(last.strip() if "[" in last else last.strip(" ]"))
    return out


def result(f, args):
    """The elements of the result of a call, in the widest type; None: an error."""
    try:
        v = flat(f(*args))
    except (q.QuasarError, TypeError, ValueError):
        return None
    return v.astype("c16" if v.dtype.kind == "c" else "f8")


def with_numbers():
    """The number of compared calls, and the differences."""
    compared, wrong, forms = {}, [], table()
    for name, (given, more) in forms:
        if name in APART: continue
        compared.setdefault(name, 0)
        for extra in range(len(more) + 1):
            names = [n for n in given + more[:extra] if n != "..."]
            data = [i for i, n in enumerate(names) if n not in SETTINGS or (n in "pq" and name in POLYNOMIAL)]
            args = [SETTINGS.get(n) for n in names]
            for number in NUMBERS:
                for beside in (None, *data):  # all are numbers, or one is among arrays of three elements
                    ours, same = list(args), list(args)
                    for i in data:
                        array = np.array([0.25, 0.5, 0.75])
                        one = beside is None or beside == i
                        ours[i], same[i] = (number, np.array([number])) if one else (array, array)
                    got, want = result(getattr(q, name), ours), result(getattr(q, name), same)
                    if got is None or want is None: continue
                    compared[name] += 1
                    if got.tobytes() != want.tobytes(): wrong.append(f"{name}{tuple(ours)}: {got}, of arrays {want}")
    wrong += [f"{n}: never compared with numbers; what its parameters are belongs in SETTINGS"
              for n, count in compared.items() if not count]
    return sum(compared.values()), wrong



# -- at random: arguments ------------------------------------------------------------------------------------------
class Skip(Exception):
    """These arguments have no meaning for the function, or for what it is held against."""


class Overflow(Exception):
    """Beyond 64 bits."""


class Random:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def chance(self, p): return self.rng.random() < p
    def pick(self, items): return items[int(self.rng.integers(len(items)))]
    def count(self, low, high): return int(self.rng.integers(low, high + 1))

    def elements(self, d, n, wild=0.15, small=False):
        """n elements; wild: how often nan, infinities and limits of the type are among them."""
        d = np.dtype(d)
        if d.kind == "c":
            return (self.elements(f"f{d.itemsize // 2}", n, wild, small) +
                    1j * self.elements(f"f{d.itemsize // 2}", n, wild, small)).astype(d)
        if d.kind == "b": return self.rng.random(n) < 0.5
        wild = wild if self.chance(0.4) else 0
        if d.kind in "iu":
            info = np.iinfo(d)
            x = np.array([self.count(max(info.min, -9), 9) for _ in range(n)], d)
            for i in np.flatnonzero(self.rng.random(n) < (0 if small else wild)):
                x[i] = self.pick([info.min, info.max, info.min + 1, info.max // 3, info.max - 1])
            return x
        x = self.rng.standard_normal(n) if self.chance(0.6) else self.rng.integers(-4, 5, n).astype("f8")
        x = (x * self.pick([1, 1, 1, 100, 1e-3])).astype(d)
        for i in np.flatnonzero(self.rng.random(n) < (0 if small else wild)):
            x[i] = self.pick([np.nan, np.inf, -np.inf, -0.0, 0.0, 1, np.finfo(d).max, np.finfo(d).tiny])
        return x

    def array(self, types=REAL, shape=None, wild=0.15, small=False, empty=0.08):
        """An array of a random shape, packed, strided, reversed or transposed."""
        if shape is None:
            shape = tuple(self.count(1, 6) for _ in range(self.pick([1, 1, 2, 2, 3])))
            if self.chance(empty): shape = self.pick([(0,), (0, 3), (3, 0)])
        d, layout = self.pick(types), self.pick(["packed", "packed", "steps", "reversed", "transposed"])
        room = tuple(2 * n for n in shape) if layout == "steps" else shape
        x = self.elements(d, math.prod(room), wild, small).reshape(room)
        if layout == "steps": return x[tuple(slice(None, None, 2) for _ in shape)]
        if layout == "reversed": return x[tuple(slice(None, None, -1) for _ in shape)]
        return x.T.copy().T if layout == "transposed" else x

    def vector(self, types=REAL, n=None, **how):
        n = self.count(1, 9) if n is None else n
        return self.array(types, (n,), **how)

    def number(self):
        return self.pick([0.1, -2.5, 123456789.123, 1.0, 0.0, 7.0, -0.3, 1e-60, 16777217.0,
                          float(self.rng.standard_normal())])

    def view(self, x):
        """x, or the same elements in the middle of an array of the language."""
        if not isinstance(x, np.ndarray) or x.dtype.kind not in "?iufc" or self.chance(0.8): return x
        before, after = self.count(0, 2), self.count(0, 2)
        rows = [np.zeros((n,) + x.shape[1:], x.dtype) for n in (before, after)]
        return q.value(np.concatenate([rows[0], x, rows[1]]))[before:before + x.shape[0]]

    def maybe(self, x):
        """x, or a number in its place."""
        return self.number() if self.chance(0.2) else x

    def dim(self, x):
        """A dimension of x as the language counts them: a vec has two."""
        return self.count(0, max(x.ndim, 2) - 1)


def two(x):
    """As the language sees it: a vec is one row, a number one element."""
    return np.atleast_2d(np.asarray(x))


def main_dim(x):
    return next((d for d, n in enumerate(two(x).shape) if n != 1), 0)


def meet(*args):
    """The type in which arguments meet, as docs/language.md and vm/base/dtype.h say it."""
    arrays = [a.dtype for a in args if isinstance(a, np.ndarray)]
    if not arrays: return np.dtype("c16" if any(isinstance(a, complex) for a in args) else "f8")
    d = arrays[0]
    for e in arrays[1:]: d = promote(d, e)
    if len(arrays) < len(args) and d.kind in "?iub": d = np.dtype("f8" if d.str[1:] in WIDE else "f4")
    return d


def promote(a, b):
    if a == b: return a
    whole = [d for d in (a, b) if d.kind in "biu"]
    if len(whole) == 2: return np.promote_types(np.promote_types(a, b), "i4" if max(a.itemsize, b.itemsize) < 4 else a)
    if any(d.str[1:] in WIDE for d in whole): return np.dtype("c16" if "c" in a.kind + b.kind else "f8")
    if len(whole) == 1:
        other = b if whole[0] is a else a
        return other if other.itemsize > 2 or whole[0].itemsize == 1 else np.dtype("f4")
    return np.promote_types(a, b)


def floats(*args):
    """The arguments as float64 or complex128, in which such functions compute: numbers stay as they are."""
    kind = "c16" if meet(*args).kind == "c" else "f8"
    out = [np.asarray(a).astype(kind).reshape(np.shape(a) or (1,)) for a in args]
    return out if len(out) > 1 else out[0]


def exact(*args, choice=False):
    """The same in the type in which they meet.  choice: int64 and uint64 keep their digits beside an integer."""
    d = meet(*args)
    wide = [a.dtype for a in args if isinstance(a, np.ndarray) and a.dtype in ("i8", "u8")]
    numbers = [a for a in args if isinstance(a, float)]
    if choice and len(wide) == 1 and len(numbers) == 1:
        least = 0 if wide[0] == "u8" else -2**53
        if numbers[0] == np.trunc(numbers[0]) and least <= numbers[0] <= 2**53: d = wide[0]
    return [np.asarray(a).astype(d).reshape(np.shape(a) or (1,)) for a in args]


# -- expected results ----------------------------------------------------------------------------------------------
# A case gives the arguments and a Want, or None where the call must be an error.
class Want:
    """Elements; `ulps` of float64, of size `scale`, may be seen: the size of the terms whose rounding adds up."""
    def __init__(self, value, scale=None, ulps=16):
        self.value, self.scale, self.ulps = np.asarray(value).ravel(), scale, ulps


def agrees(got, want):
    got, value = flat(got), want.value
    if got.shape != value.shape: return f"{got.size} elements, wanted {value.size}"
    if got.dtype.kind in "biu" and value.dtype.kind in "biuO":
        return None if all(int(a) == int(b) for a, b in zip(got, value)) else "differs"
    if got.dtype.kind == "c" or value.dtype.kind == "c":
        d = "f4" if got.dtype == "c8" else "f8"
        if np.all(np.abs(value) < np.finfo(d).max / 4):
            size = np.abs(value) if want.scale is None else np.maximum(np.abs(value), np.asarray(want.scale).ravel())
            with np.errstate(all="ignore"):
                bound = 4 * np.finfo(d).eps * np.abs(value) + want.ulps * 2.0**-53 * size + np.finfo(d).tiny
                bad = np.abs(got - value) > bound
            return "differs" if np.any(bad) else None
        return None  # where parts of complex numbers overflow, the order of operations shows
    d = got.dtype if got.dtype.kind == "f" else np.dtype("f8")
    with np.errstate(all="ignore"):
        value = value.astype("f8")
        rounded = value.astype(d).astype("f8")
        got = got.astype("f8")
        size = np.abs(value)
        if np.size(want.scale) in (1, value.size) and want.scale is not None:
            size = np.maximum(size, np.asarray(want.scale, "f8").ravel())
        bound = 2 * np.finfo(d).eps * np.abs(value) + want.ulps * 2.0**-53 * size + np.finfo(d).tiny
        close = np.abs(got - rounded) <= bound
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded)) | close
        edge = ~np.isfinite(size) | (np.abs(value) > 0.5 * float(np.finfo(d).max)) | (size > 1e300)
    return None if np.all(same | edge & ~(np.isfinite(got) & np.isfinite(rounded))) else "differs"


CASES = {}


def case(*names):
    def add(f):
        for n in names: CASES[n] = f
        return f
    return add


def along(f, x, dim):
    """f of all elements, or along a dimension, which stays."""
    if dim is None: return np.asarray(f(two(x).ravel()))
    return np.apply_along_axis(lambda v: np.atleast_1d(f(v)), dim, two(x))


@case("sum", "prod", "mean", "any", "all", "squared_norm", "norm", "norm1", "logsumexp", "nansum", "nanmean",
      "nanmin", "nanmax", "var", "std", "median", "nanmedian", "nanvar", "nanstd", "mode")
def reduction(g, name):
    x = g.maybe(g.array(REAL if name not in ("sum", "mean", "prod", "norm1") else REAL + COMPLEX))
    if isinstance(x, float): return (x,), Want(reduced(name, np.array([x])), abs(x))
    columns = name in ("median", "nanmedian") and x.ndim > 1
    dim = None if g.chance(0.5) or name in ("norm", "squared_norm") else g.dim(x)
    axis = main_dim(x) if dim is None and columns else dim
    if not x.size and name not in ("sum", "prod", "any", "all", "nansum", "squared_norm", "norm", "norm1"): raise Skip
    if not x.size and axis is not None: raise Skip
    args = (x,) if dim is None else (x, dim)
    with np.errstate(all="ignore"):
        try:
            value = along(lambda v: reduced(name, v, axis is not None and x.dtype == "u8"), x, axis)
        except Overflow:
            return args, None
        size = along(lambda v: scale(name, v), x, axis)
    return args, Want(value, size, 16 + 4 * x.size)


def scale(name, v):
    with np.errstate(all="ignore"):
        v = np.abs(v.astype("c16" if v.dtype.kind == "c" else "f8"))
        v = v[~np.isnan(v)] if name.startswith("nan") else v
        if name == "prod": return np.prod(v) if v.size else 1.0
        if "var" in name or name == "squared_norm": return np.sum(v**2)
        return np.sum(v)


def depends_on_order(v):
    """Some products on the way overflow or vanish, and which ones depends on the order."""
    size = np.abs(v[np.isfinite(v)])
    size = size[size > 0]
    return not np.isfinite(np.prod(np.fmax(size, 1))) or np.prod(np.fmin(size, 1)) < np.finfo("f8").tiny


def reduced(name, v, unsigned=False):
    """unsigned: the result is an element of uint64, not an int."""
    whole = v.dtype.kind in "biu"
    w = v.astype(object) if whole else v.astype("c16" if v.dtype.kind == "c" else "f8")
    if name in ("sum", "prod"):
        r = (sum if name == "sum" else math.prod)(int(i) for i in w) if whole else getattr(np, name)(w)
        if whole and not -2**63 <= r < (2**64 if unsigned else 2**63): raise Overflow
        if not whole and name == "prod" and depends_on_order(w): raise Skip
        return np.array(r, dtype="O") if whole and v.dtype.kind != "b" else np.float64(r) if whole else r
    if name in ("mode", "nanmin", "nanmax") and v.dtype in ("i8", "u8"): # keep their digits
        u, n = np.unique(v, return_counts=True)
        return np.array(int(u[np.argmax(n)] if name == "mode" else u[0] if name == "nanmin" else u[-1]), dtype="O")
    w = v.astype("f8") if w.dtype.kind != "c" else w
    if name in ("any", "all"): return getattr(np, name)(w)
    if name == "norm1": return np.sum(np.abs(w))
    if name == "logsumexp":
        most = np.fmax.reduce(w)
        return np.log(np.sum(np.exp(w - (most if np.isfinite(most) else 0)))) + (most if np.isfinite(most) else 0)
    if name == "squared_norm": return np.sum(w**2)
    if name == "norm": return np.sqrt(np.sum(w**2))
    if name == "mode":
        w = w[~np.isnan(w)]
        if not w.size: return np.nan
        u, n = np.unique(w, return_counts=True)
        return u[np.argmax(n)]
    if name.startswith("nan") and name != "nansum":
        w, name = w[~np.isnan(w)], name[3:]
        if not w.size: return np.nan
    if name == "nansum": return np.nansum(w)
    if name in ("min", "max"): return getattr(np, name)(w)
    if name in ("var", "std"):
        v = np.sum((w - np.mean(w))**2) / max(w.size - 1, 1)
        return v if name == "var" else np.sqrt(v)
    if name == "median": return np.nan if np.any(np.isnan(w)) else np.median(w)
    return getattr(np, name)(w)


@case("min", "max", "find_index_min", "find_index_max")
def extreme(g, name):
    x = g.maybe(g.array(REAL, empty=0))
    if name[:4] != "find" and g.chance(0.4):
        y = g.maybe(g.array(REAL, shape=np.shape(x) if isinstance(x, np.ndarray) else None))
        a, b = exact(x, y, choice=True)
        return (x, y), Want(getattr(np, "f" + name)(a, b))
    v = np.atleast_1d(x)
    if name[:4] == "find":
        numbers = np.flatnonzero(~np.isnan(v.ravel())) if v.dtype.kind == "f" else np.arange(v.size)
        f = np.argmin if name == "find_index_min" else np.argmax
        return (x,), Want(np.float64(numbers[f(v.ravel()[numbers])] if numbers.size else 0))
    f = getattr(np, "nan" + name)
    if isinstance(x, float) or g.chance(0.5): return (x,), Want(f(v))
    dim = g.dim(v)
    return (x, [], dim), Want(f(two(v), axis=dim, keepdims=True))


@case("cumsum", "cumprod", "diff", "sort", "flip", "fliplr", "flipud")
def lines(g, name):
    x = g.maybe(g.array(REAL + (COMPLEX if name in ("cumsum", "cumprod", "flip") else [])))
    v = two(x)
    dim = main_dim(v) if g.chance(0.5) or name in ("fliplr", "flipud") else g.dim(v)
    args = (x,) if dim == main_dim(v) or name in ("fliplr", "flipud") else (x, dim)
    if name == "sort": return args, Want(np.sort(v, axis=dim))
    if name[:4] == "flip": return args, Want(np.flip(v, {"fliplr": 1, "flipud": 0}.get(name, dim)))
    if name == "diff":
        if v.shape[dim] < 2: return args, Want(np.empty(0))
        w = v.astype("O") if v.dtype.kind in "biu" else v.astype("c16" if v.dtype.kind == "c" else "f8")
        with np.errstate(all="ignore"): d = np.diff(w, axis=dim)
        if v.dtype.kind in "biu":
            d = np.array([int(i) for i in d.ravel()], "O")
            bits = 64 if v.dtype.itemsize == 8 else 32
            low = 0 if v.dtype.kind == "u" and v.dtype.itemsize > 3 else -2**(bits - 1)
            d = np.array([(int(i) - low) % 2**bits + low for i in d], "O")
            return args, Want(d)
        size = np.abs(w).max(initial=0)
        return args, Want(d, size)
    if v.dtype.kind in "biu":
        f = np.cumsum if name == "cumsum" else np.cumprod
        d = f(v.astype("O"), axis=dim) if v.size else np.empty(0)
        low, high = (0, 2**64) if v.dtype == "u8" else (-2**63, 2**63)
        if v.size and not all(low <= int(i) < high for i in d.ravel()): return args, None
        return args, Want(np.array([int(i) for i in d.ravel()], "O"))
    w = v.astype("c16" if v.dtype.kind == "c" else "f8")
    with np.errstate(all="ignore"):
        d = getattr(np, name)(w, axis=dim)
        size = getattr(np, name)(np.abs(w), axis=dim)
    return args, Want(d, size, 16 + 8 * v.size)


@case("find")
def find(g, name):
    x = g.maybe(g.array(REAL))
    if np.ndim(x) == 3 and x.shape[2] == 1: raise Skip
    return (x,), Want(np.argwhere(two(x)).astype("f8"))


@case("percentile", "quantile")
def quantile(g, name):
    x = g.maybe(g.array(REAL, empty=0))
    by = 100 if name == "percentile" else 1
    at = float(g.rng.random()) * by if g.chance(0.5) else g.rng.random(g.count(1, 5)) * by
    method = g.pick(["linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull", "median_unbiased",
                     "normal_unbiased", "averaged_inverted_cdf", "inverted_cdf"])
    v = np.atleast_1d(x).astype("f8").ravel()
    if method != "linear" and (method == "nearest" or np.any(np.isinf(v))): raise Skip
    args = (x, at) if method == "linear" else (x, at, None, method)
    with np.errstate(all="ignore"):
        w = np.quantile(v, np.asarray(at) / by, method=method)
    if np.any(np.isinf(v)): raise Skip
    s = np.sort(v)
    return args, Want(w, np.max(np.abs(v)) * (4 if v.size else 1))


@case("trapz", "cumulative_trapezoid")
def area(g, name):
    n = g.count(1, 8)
    y, x = g.vector(REAL, n), g.vector(FLOATS, n, small=True)
    spaced = g.chance(0.5)
    w = y.astype("f8")
    with np.errstate(all="ignore"):
        steps = np.diff(x.astype("f8")) if spaced else np.ones(n - 1)
        parts = (w[1:] + w[:-1]) / 2 * steps
        run = np.concatenate([[0], np.cumsum(parts)])
        size = np.sum(np.abs(parts)) + np.max(np.abs(w)) * (np.max(np.abs(x)) if spaced else 1)
    return ((x, y) if spaced else (y,)), Want(run if name != "trapz" else run[-1], size)


# -- sets ----------------------------------------------------------------------------------------------------------
def is_exact_in_float64(v):
    v = np.asarray(v)
    return v.dtype.kind == "f" or all(int(float(int(i))) == int(i) for i in v.ravel())


def distinct(v):
    return np.unique(v)


@case("unique", "union", "intersect", "setdiff", "setxor", "ismember")
def sets(g, name):
    a, b = g.maybe(g.vector(REAL, small=g.chance(0.5))), g.maybe(g.vector(REAL, small=g.chance(0.5)))
    if name == "unique": return (a,), Want(distinct(np.atleast_1d(a)))
    if g.chance(0.3) and isinstance(a, np.ndarray) and a.size: b = g.maybe(a[::-1][: g.count(1, a.size)])
    if isinstance(a, np.ndarray) and a.size and g.chance(0.2): b = float(a.ravel()[0])
    kinds = {np.asarray(v).dtype.kind for v in (a, b)}
    if meet(a, b) == "f8" and kinds == {"i", "u"}: raise Skip  # compared exactly, but the result is float64
    joined = name in ("union", "setxor") and "f" in kinds
    if joined and not all(map(is_exact_in_float64, (a, b))): raise Skip  # an error
    x, y = exact(a, b)
    u, w = distinct(x), distinct(y)
    here, there = members(u, w), members(w, u)
    if name == "ismember": return (a, b), Want(members(x, y))
    if name == "intersect": r = u[here]
    elif name == "setdiff": r = u[~here]
    elif name == "setxor": r = np.unique(np.concatenate([u[~here], w[~there]]), equal_nan=False)
    else: r = distinct(np.concatenate([u, w]))
    return (a, b), Want(r)


def members(x, y):
    """nan is in no set."""
    return np.array([bool(np.any(y == v)) for v in x], bool)


# -- sampled functions ---------------------------------------------------------------------------------------------
@case("interp1")
def interp1(g, name):
    n = g.count(2, 7)
    x = np.sort(g.rng.choice(50, n, replace=False)).astype(g.pick(["i4", "f4", "f8", "u1"]))
    y = g.vector(["f4", "f8", "i4", "u1", "i8"], n, small=True)
    at = (g.rng.random(g.count(1, 5)) * 60 - 5).astype(g.pick(["f4", "f8"]))
    if g.chance(0.4): at = float(g.rng.random() * 50)
    method = g.pick(["linear", "nearest", "previous", "next", "pchip", "spline"])
    xs, ys, t = x.astype("f8"), y.astype("f8"), np.atleast_1d(at).astype("f8")
    if method == "linear": w = np.interp(t, xs, ys, np.nan, np.nan)
    elif method in ("previous", "next"): w = scipy.interpolate.interp1d(xs, ys, method, bounds_error=False)(t)
    elif method == "nearest": w = scipy.interpolate.interp1d(xs, ys, "nearest-up", bounds_error=False)(t)
    elif n < (4 if method == "spline" else 3): raise Skip
    elif method == "pchip": w = scipy.interpolate.PchipInterpolator(xs, ys, extrapolate=False)(t)
    else: w = scipy.interpolate.CubicSpline(xs, ys, extrapolate=False)(t)
    return (x, y, at, method), Want(w, 50 * np.max(np.abs(ys)), 4000 if method == "spline" else 64)


@case("interp2")
def interp2(g, name):
    z = g.array(["f4", "f8", "i4", "u1"], (g.count(2, 5), g.count(2, 5)), small=True)
    n = g.count(1, 4)
    x, y = g.rng.random(n) * (z.shape[1] - 1), g.rng.random(n) * (z.shape[0] - 1)
    w = scipy.ndimage.map_coordinates(z.astype("f8"), [y, x], order=1)
    if g.chance(0.3): return (z, float(x[0]), float(y[0])), Want(w[:1], np.max(np.abs(z.astype("f8"))), 64)
    return (z, x, y), Want(w, np.max(np.abs(z.astype("f8"))), 64)


@case("histogram")
def histogram(g, name):
    x = g.maybe(g.array(REAL, empty=0, small=True))
    v = np.atleast_1d(x).astype("f8").ravel()
    if g.chance(0.5):
        edges = np.unique(g.rng.integers(-6, 7, 5)).astype("f8")
        if edges.size < 3: raise Skip
        return (x, edges), Want(np.histogram(v, edges)[0].astype("f8"))
    n = g.count(1, 9)
    lo, hi = -5.0, float(g.count(-4, 6))
    return (x, n, np.array([lo, hi])), Want(np.histogram(v, n, (lo, hi))[0].astype("f8"))


@case("bincount")
def bincount(g, name):
    x = g.rng.integers(0, 6, g.count(1, 8)).astype(g.pick(INTS + FLOATS))
    if g.chance(0.5): return (x, 3), Want(np.bincount(x.astype(int), minlength=3).astype("f8"))
    w = g.vector(REAL, x.size, small=True)
    if g.chance(0.2): x, w = 2.0, np.array([0.1])
    if g.chance(0.3) and np.size(x) == 1: w = 0.1
    v = np.atleast_1d(w).astype("f8")
    return (x, 3, w), Want(np.bincount(np.atleast_1d(x).astype(int), v, 3), np.sum(np.abs(v)))


@case("polyval", "polyfit", "roots")
def polynomial(g, name):
    p = g.maybe(g.vector(REAL + COMPLEX, small=True))
    if name == "polyval":
        x = g.maybe(g.array(REAL + COMPLEX, small=True))
        a, b = floats(p, x)
        with np.errstate(all="ignore"):
            return (p, x), Want(np.polyval(a, b), np.polyval(np.abs(a), np.abs(b)), 64)
    if name == "roots":
        p = g.vector(["f8"], g.count(2, 5), small=True)
        if p[0] == 0 or np.ptp(np.log10(np.abs(p[p != 0]))) > 4: raise Skip
        values = np.polyval(p, flat(q.roots(p)))
        size = np.polyval(np.abs(p), np.abs(flat(q.roots(p))))
        if np.all(np.abs(values) <= 1e-6 * size + 1e-12): raise Skip
        return (p,), Want(np.roots(p))
    n = g.count(3, 9)
    x, y = np.sort(g.rng.random(n) * 4 - 2), g.vector(["f8", "f4", "i4"], n, small=True)
    return (x, y, 1), Want(np.polyfit(x, y.astype("f8"), 1), np.max(np.abs(y)) / (np.ptp(x) + 1e-9), 1e6)


@case("conv", "conv2")
def convolution(g, name):
    shape = (lambda: (g.count(1, 12),)) if name == "conv" else lambda: (g.count(1, 6), g.count(1, 6))
    a, b = g.array(REAL + COMPLEX, shape(), small=True), g.array(REAL + COMPLEX, shape(), small=True)
    a, b = g.maybe(a), g.maybe(b)
    x, y = (two(v) for v in floats(a, b))
    mode = g.pick(["full", "same", "valid"])
    f = scipy.signal.convolve2d
    full, size = f(x, y), f(np.abs(x), np.abs(y))
    if mode == "valid" and (x.shape[0] < y.shape[0] or x.shape[1] < y.shape[1]):
        return (a, b, mode), Want(np.empty(0))
    cut = tuple(slice(n // 2, n // 2 + m) if mode == "same" else slice(n - 1, m) for m, n in zip(x.shape, y.shape))
    if mode == "same": cut = tuple(slice(n // 2, n // 2 + m) for m, n in zip(x.shape, y.shape))
    if mode != "full": full, size = full[cut], size[cut]
    return (a, b, mode), Want(full, size, 64)


@case("cov", "corrcoef")
def covariance(g, name):
    n = g.count(2, 8)
    if g.chance(0.4):
        x, y = g.vector(REAL, n, small=True), g.vector(REAL, n, small=True)
        args, rows = (x, y), np.stack([x.astype("f8"), y.astype("f8")])
    else:
        x = g.array(REAL, (n, g.count(2, 4)), small=True)
        args, rows = (x,), x.astype("f8").T
    with np.errstate(all="ignore"):
        w = np.cov(rows)
        if name == "cov": return args, Want(w, n * np.max(np.abs(rows))**2, 64)
        v = np.diag(w)
        if np.any(v < 1e-9 * np.max(np.abs(rows))**2 + 1e-12): raise Skip
        return args, Want(np.corrcoef(rows), n * np.max(np.abs(rows))**2 / np.min(v), 256)


@case("medfilt")
def medfilt(g, name):
    x, r = g.array(REAL, (g.count(3, 8), g.count(3, 8)), small=True), g.count(0, 2)
    known = x.astype("f4") if x.dtype == "f2" else x
    return (x, r), Want(scipy.ndimage.median_filter(known, 2 * r + 1, mode="reflect"))


@case("movmin", "movmax")
def moving(g, name):
    x, dim, w = g.array(REAL, (g.count(1, 8), g.count(1, 8)), small=True), g.count(0, 1), g.count(1, 9)
    kind = g.count(0, 2)
    window = [w, [g.count(0, 9), g.count(0, 9)], [[g.count(0, 9), g.count(0, 2)], [0, g.count(0, 9)]]][kind]
    f = np.fmin if name == "movmin" else np.fmax

    def extremes(x, dim, before, after):
        n = x.shape[dim]
        parts = [f.reduce(np.take(x, range(max(k - before, 0), min(k + after + 1, n)), dim), dim) for k in range(n)]
        return np.stack(parts, dim)

    if kind == 2:
        return (x, np.array(window, "f8")), Want(extremes(extremes(x, 0, *window[0]), 1, *window[1]))
    before, after = window if kind else (w // 2, w - 1 - w // 2)
    return (x, np.array(window, "f8") if kind else window, dim), Want(extremes(x, dim, before, after))


@case("take_along", "add_along")
def places_along(g, name):
    x, dim, m = g.array(REAL, (g.count(1, 6), g.count(1, 6)), small=True), g.count(0, 1), g.count(1, 6)
    n = x.shape[dim] if name == "take_along" else m
    shape = [m if d == dim and name == "take_along" else s for d, s in enumerate(x.shape)]
    places = g.rng.integers(0, n, shape)
    if name == "take_along": return (x, places.astype("f8"), dim), Want(np.take_along_axis(x, places, dim))
    known = x.astype("f8" if x.dtype in ("f8", "i4", "u4", "i8", "u8") else "f4")
    sums = np.zeros([m if d == dim else s for d, s in enumerate(x.shape)], known.dtype)
    at = [places if d == dim else np.arange(s).reshape(-1, *[1]*(1 - d)) for d, s in enumerate(x.shape)]
    np.add.at(sums, tuple(at), known)
    return (x, places.astype("f4"), dim, m), Want(sums, np.sum(np.abs(known.astype("f8"))))


@case("rank_positions")
def rank_positions(g, name):
    x, dim = g.array(REAL, (g.count(1, 6), g.count(1, 6)), small=True), g.count(0, 1)
    ranks = g.rng.integers(0, x.shape[dim], g.count(1, 5))
    places = np.take(np.argsort(x, dim, kind="stable"), ranks, dim)
    return (x, ranks.astype("f8"), dim), Want(places.astype("f4"))


# -- linear algebra ------------------------------------------------------------------------------------------------
def good(g, types, n=None, m=None):
    n = g.count(1, 5) if n is None else n
    x = g.array(types, (n, m or n), small=True)
    if np.linalg.cond(x.astype("c16")) > 1e4: raise Skip
    return x


@case("inv", "det", "logdet", "trace", "cond", "rank", "pinv")
def matrix(g, name):
    x = g.maybe(good(g, ["f4", "f8", "i2", "i4", "i8", "u1", "c8", "c16"]))
    w = two(floats(x))
    size = np.prod(np.sum(np.abs(w), axis=1)) if name == "det" else None
    others = {"logdet": lambda a: np.linalg.slogdet(a)[1], "rank": np.linalg.matrix_rank, "trace": np.trace}
    f = others.get(name) or getattr(np.linalg, name)
    if np.any(w == 0) and w.size == 1 or isinstance(x, float) and not 1e-9 < abs(x) < 1e9: raise Skip
    if name == "logdet" and (w.dtype.kind == "c" or np.linalg.det(w) < 0): raise Skip
    k = np.linalg.cond(w)
    r = f(w)
    size = {"det": size, "logdet": k, "trace": np.sum(np.abs(np.diag(w)))}.get(name, 0)
    return (x,), Want(r, np.max(np.abs(r)) * k + size, 4096)


@case("solve", "linsolve", "solve_back")
def solve(g, name):
    a = g.maybe(good(g, ["f4", "f8", "i4", "c8", "c16"]))
    n = two(a).shape[0]
    b = g.array(["f4", "f8", "i4", "c8"], (n, g.count(1, 3)), small=True)
    if n == 1 and g.chance(0.5): b = g.number()
    x, y = (two(v) for v in floats(a, b))
    if np.linalg.cond(x) > 1e4 or np.abs(x).max() < 1e-9: raise Skip
    w = np.linalg.solve(x.conj().T if name == "solve_back" else x, y)
    scale = np.max(np.abs(w), initial=0) * np.linalg.cond(x) + np.max(np.abs(y))
    return (a, b, None)[:3 if name == "solve_back" else 2], Want(w, scale, 4096)


@case("svd", "symeig", "chol")
def factors(g, name):
    x = good(g, ["f4", "f8", "i4"])
    if name == "svd":
        w = np.linalg.svd(x.astype("f8"), compute_uv=False)
        return (x,), Want(w, np.max(w), 4096)
    c = (x.astype("f8") @ x.astype("f8").T).astype(g.pick(["f8", "f4"]))
    if np.linalg.cond(c.astype("f8")) > 1e4: raise Skip
    w = np.linalg.eigvalsh(c.astype("f8")) if name == "symeig" else np.linalg.cholesky(c.astype("f8")).T
    return (c,), Want(w, np.max(np.abs(c)) * np.linalg.cond(c.astype("f8")), 4096)


@case("dotprod", "kron", "cross")
def product(g, name):
    n = 3 if name == "cross" else g.count(1, 9)
    types = REAL if name == "cross" else REAL + COMPLEX
    a, b = g.vector(types, n, small=True), g.vector(types, n, small=True)
    if name == "kron": a, b = g.maybe(a), g.maybe(b)
    if name == "dotprod" and n == 1: a, b = g.maybe(a), g.maybe(b)
    x, y = floats(a, b)
    if name == "kron":
        x, y = exact(a, b)
        x, y = (x.astype("O"), y.astype("O")) if x.dtype.kind in "biu" else floats(x, y)
        return (a, b), Want(np.kron(x, y), None, 64)
    if isinstance(b, float) and not_wide(a): y = single(y)
    if isinstance(a, float) and not_wide(b): x = single(x)
    size = np.sum(np.abs(x) * np.abs(y)) if name == "dotprod" else np.max(np.abs(x)) * np.max(np.abs(y))
    return (a, b), Want(np.sum(x * y) if name == "dotprod" else np.cross(x, y), size, 64)


def not_wide(x): return meet(x).str[1:] not in (*WIDE, "f8", "c16")
def single(x): return x.astype("c8" if x.dtype.kind == "c" else "f4").astype(x.dtype)


# -- Fourier transforms --------------------------------------------------------------------------------------------
@case("fft1", "ifft1", "fft2", "ifft2", "fft3", "ifft3", "fftshift1", "fftshift2", "fftshift3", "ifftshift1",
      "ifftshift2", "ifftshift3")
def fourier(g, name):
    rank = int(name[-1])
    shape = tuple(g.count(1, 12) for _ in range(max(rank, g.count(1, 3))))
    x = g.maybe(g.array(REAL + COMPLEX, shape, small=True))
    v = two(x)
    axes = (main_dim(v),) if rank == 1 else tuple(range(min(rank, v.ndim)))
    if "shift" in name: return (x,), Want(getattr(np.fft, name[:-1])(v, axes=axes))
    w = v.astype("c16" if v.dtype.kind == "c" else "f8")
    r = (np.fft.ifftn if name[0] == "i" else np.fft.fftn)(w, axes=axes)
    wide = v.dtype.str[1:] in (*WIDE, "f8", "c16")  # else it is computed in float32
    size = np.sum(np.abs(w)) / (w.size if name[0] == "i" else 1)
    return (x,), Want(r, np.full(r.shape, size), 16 if wide else 2.0**32)


# -- moving elements -----------------------------------------------------------------------------------------------
@case("reshape", "transpose", "herm_transpose", "permute", "moveaxis", "squeeze", "diag", "diagm", "triu", "tril",
      "repmat", "circshift", "copy")
def moved(g, name):
    shape = (g.count(1, 5), g.count(2, 5)) if name in ("diag", "triu", "tril") else None
    x = g.maybe(g.array(REAL + COMPLEX, shape))
    v = two(x)
    if name == "reshape": return (x, [x.size if isinstance(x, np.ndarray) else 1]), Want(v.ravel())
    if name in ("squeeze", "copy"): return (x,), Want(v.ravel())
    if name in ("transpose", "herm_transpose"):
        t = np.swapaxes(v, 0, 1)
        return (x,), Want(t.conj() if name[0] == "h" else t)
    if name == "permute":
        order = [int(i) for i in g.rng.permutation(v.ndim)]
        return (x, order), Want(np.transpose(v, order))
    if name == "moveaxis":
        a, b = g.dim(v), g.dim(v)
        return (x, a, b), Want(np.moveaxis(v, a, b))
    if name == "diag": return (x,), Want(np.diag(v.ravel()) if v.shape[0] == 1 else np.diag(v))
    if name == "diagm":
        if v.size > 40: raise Skip
        return (x,), Want(np.diag(v.ravel()))
    if name in ("triu", "tril"):
        k = g.count(-3, 3)
        return (x, k), Want(getattr(np, name)(v, k))
    if name == "repmat":
        if isinstance(x, float): v = np.float64(x) if x == int(x) and abs(x) > 2**24 else np.float32(x)
        times = [g.count(0, 3), g.count(1, 3)]
        return (x, times), Want(np.tile(v, times + [1] * (np.ndim(v) - 2)))
    by = [g.count(-9, 9), g.count(-9, 9)]
    return (x, by), Want(np.roll(v, by, (0, 1)))


@case("horzcat", "vertcat", "cat")
def joined(g, name):
    n = g.count(1, 4)
    parts = [g.array(REAL + COMPLEX, (n, g.count(1, 3))) for _ in range(g.count(1, 3))]
    if n == 1: parts = [g.maybe(p) for p in parts]
    if name == "vertcat": parts = [p if isinstance(p, float) else np.swapaxes(p, 0, 1) for p in parts]
    if name == "vertcat" and n == 1 or n == 1 and any(p.shape[0] > 1 for p in parts if isinstance(p, np.ndarray)):
        parts = [p if isinstance(p, float) else p.reshape(-1, 1) if name == "vertcat" else p for p in parts]
    d = meet(*parts)
    with np.errstate(all="ignore"):
        w = np.concatenate([two(p).astype(d) for p in parts], 0 if name == "vertcat" else 1)
    return ((1, *parts) if name == "cat" else tuple(parts)), Want(w)


@case("meshgrid", "linspace", "ind2pos", "pos2ind")
def made(g, name):
    if name == "linspace":
        a, b, n = g.number(), g.number(), g.count(2, 9)
        return (a, b, n), Want(np.linspace(a, b, n), max(abs(a), abs(b)))
    if name == "meshgrid":
        xs = [g.maybe(g.vector(["f4", "f8", "i4", "u1"], small=True)) for _ in range(g.count(2, 3))]
        return xs, Want(np.meshgrid(*map(np.atleast_1d, xs))[0])
    size = [g.count(1, 5) for _ in range(g.count(2, 3))]
    at = g.rng.integers(0, math.prod(size), g.count(2, 5))
    rows = np.stack(np.unravel_index(at, size), 1)
    if name == "ind2pos": return (size, at.astype(g.pick(["i4", "f8", "u1"]))), Want(rows.astype("f8"))
    return (size, rows.astype(g.pick(["i4", "f8", "u1"]))), Want(at.astype("f8"))


@case("isequal", "isclose", "allclose", "hypot", "atan2", "mod", "clamp")
def compared(g, name):
    a = g.array(REAL, empty=0)
    b = a.copy() if g.chance(0.4) else g.array(REAL, a.shape)
    if name == "isequal":
        if a.size == 1 and g.chance(0.5): b = g.number()
        x, y = (v.astype("O") if v.dtype.kind in "biu" else v for v in exact(a, b))
        return (a, b), Want(np.array(bool(np.all(x.ravel() == y.ravel()))))
    b = g.maybe(b)
    x, y = exact(a, b, choice=name in ("mod", "clamp"))
    if name in ("mod", "clamp") and x.dtype in ("i8", "u8") and isinstance(b, float):
        if name == "clamp" and np.all(y >= 0): return (a, b), Want(np.minimum(np.maximum(x, 0), y))
        if name == "mod" and np.all(y != 0): return (a, b), Want(np.mod(x, y))
    if x.dtype.kind in "biu" or x.dtype == "f2": raise Skip  # tests/elem.py has each type
    with np.errstate(all="ignore"):
        if name in ("isclose", "allclose"):
            near = np.isclose(x.astype("f8"), y.astype("f8"))
            gap, bound = np.abs(x.astype("f8") - y), 1e-8 + 1e-5 * np.abs(y.astype("f8"))
            if np.any(np.abs(gap - bound) < 1e-5 * bound) or not np.all(np.isfinite(bound)): raise Skip
            return (a, b), Want(near if name == "isclose" else np.all(near))
        if name == "clamp" and np.any(np.isnan(y) | np.isnan(x) | (y < 0)): raise Skip
        if name == "clamp": return (a, b), Want(np.fmin(np.fmax(x, 0), y))
        f = {"hypot": np.hypot, "atan2": np.arctan2, "mod": np.mod}[name]
        if name == "mod" and not np.all(np.isfinite(x) & np.isfinite(y) & (np.abs(x / y) < 1e3)): raise Skip
        rough = 1 if x.dtype == "f8" else 2.0**29
        if name == "mod": return (a, b), Want(f(x, y), np.abs(y.astype("f8")) * rough, 64)
        return (a, b), Want(f(x.astype("f8"), y.astype("f8")))


# -- running -------------------------------------------------------------------------------------------------------
def shown(v):
    if not isinstance(v, np.ndarray): return repr(v)
    text = np.array2string(v, separator=",", threshold=60, floatmode="unique").replace("\n", "")
    return f"np.array({text}, '{v.dtype.str[1:]}')"


def once(seed, name):
    """None: it agrees; False: nothing was compared; else what differs."""
    g = Random(seed)
    try:
        args, want = CASES[name](g, name)
    except Skip:
        return False
    try:
        got = getattr(q, name)(*(g.view(a) for a in args))
    except q.QuasarError as e:
        if want is None: return None
        return f"{name}({', '.join(map(shown, args))}): {str(e).splitlines()[0]}\n  wanted {want.value}"
    if want is None: return f"{name}({', '.join(map(shown, args))}): no error\n  got    {shown(flat(got))}"
    problem = agrees(got, want)
    if not problem: return None
    call = f"{name}({', '.join(map(shown, args))})"
    return f"{call}: {problem}\n  got    {shown(flat(got))}\n  wanted {shown(want.value)}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seconds", type=float, default=20)
    p.add_argument("--seed", type=int, default=int(time.time()))
    p.add_argument("--only", action="append", default=[], metavar="NAME")
    p.add_argument("--most", type=int, default=20, help="differences to show before it ends")
    a = p.parse_args()
    warnings.simplefilter("ignore")
    q.init("cpu")
    calls, wrong = (0, []) if a.only else with_numbers()
    for w in wrong: print(w)
    names, bad, done, skipped, seed, end = a.only or sorted(CASES), len(wrong), 0, 0, a.seed, time.time() + a.seconds
    progress = Progress("builtins", "s")
    while time.time() < end and bad < a.most:
        progress.at(a.seconds - (end - time.time()), a.seconds, f"{done} calls")
        for name in names:
            r = once(seed, name)
            done, skipped = done + (r is not False), skipped + (r is False)
            if r:
                bad += 1
                progress.say(f"--only {name} --seed {seed}: {r}")
        seed += 1
    progress.clear()
    print(f"{calls} calls with numbers, {done} at random of {len(names)} functions from seed {a.seed}; {bad} differ")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
