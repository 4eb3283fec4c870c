"""What the rows of lang/kernel/elem/elem.def mean, said once more and independently: by NumPy, and by Python's math and
cmath.  tests/elem.py holds the numbers of the host against it.  None: not compared there."""
import cmath, math
import numpy as np

INF, NAN = math.inf, math.nan


# -- functions that Python does not have, or has otherwise ---------------------------------------------------------
def half_away(x):
    if x != x or math.isinf(x): return x
    t = float(math.trunc(x))
    return math.copysign(t + math.copysign(1, x) if abs(x - t) >= 0.5 else t, x)


def mod(x, a):
    if x != x or a != a or math.isinf(x) or a == 0: return NAN
    if math.isinf(a): return math.copysign(0.0, a) if x == 0 else x if (x < 0) == (a < 0) else a
    r = math.fmod(x, a)
    return math.copysign(0.0, a) if r == 0 else r + a if (r < 0) != (a < 0) else r


def extreme(most):
    def f(x, y):
        if x != x or y != y: return y if x != x else x
        if x == y: return x if (math.copysign(1, x) < 0) != most else y
        return max(x, y) if most else min(x, y)
    return f


least, greatest = extreme(False), extreme(True)


def nextpow2(x):
    if x != x or x == INF: return x
    if x <= 0: return 1.0
    m, e = math.frexp(x)
    return x if m == 0.5 else math.ldexp(1.0, e) if e <= 1023 else INF


def sign(x): return x if x != x else 0.0 if x == 0 else math.copysign(1, x)
def half_power(x): return INF if x == -INF else float(np.sqrt(x)) + 0.0
def frac(x): return NAN if x != x or math.isinf(x) else x - float(math.floor(x)) + 0.0


def rounding(f):
    def g(x):
        if x != x or math.isinf(x) or x == 0: return x
        return math.copysign(float(f(x)), x) if f(x) == 0 else float(f(x))
    return g


def gamma(f):
    """Away from the poles, and from roots of the logarithm, where Python is less exact."""
    def g(x):
        if x != x or math.isinf(x) or (x <= 0 and x == math.floor(x)) or abs(x) > 1e15: return None
        y = f(x)
        return None if f is math.lgamma and abs(y) < 0.5 else y
    return g


def inverse_erf(y, rest):
    """The x of erf(x) = y where y < 0.5, else of erfc(x) = rest, by Newton's method; y >= -0.5."""
    if not 0 <= rest: return NAN
    if rest == 0: return INF
    if rest < 1e-300: return None
    l = -math.log(rest)
    x = 0.9 * y if y < 0.5 else math.sqrt(max(l - 0.5 * math.log(max(l, 0.7)) - 0.6, 0.2))
    for _ in range(60):
        gap = y - math.erf(x) if y < 0.5 else math.erfc(x) - rest
        x += gap * math.sqrt(math.pi) / 2 * math.exp(x * x)
    return x


def erfinv(x): return math.copysign(inverse_erf(abs(x), 1 - abs(x)), x)
def erfcinv(x): return -inverse_erf(x - 1, 2 - x) if x > 1.5 else inverse_erf(1 - x, x)


def factorial(x):
    if x != x or x < 0: return NAN
    if x > 170.7 or x == math.floor(x): return INF if x > 170.7 else float(math.factorial(int(x)))
    return math.gamma(x + 1) if x < 0.5 else x * math.gamma(x)


def mirrored(i, n):
    """2*n must not wrap."""
    return min(i % (2 * n), 2 * n - 1 - i % (2 * n)) if 0 < n < 64 else None


def np1(f): return lambda x: float(f(np.float64(x)))
def np2(f): return lambda x, y: float(f(np.float64(x), np.float64(y)))


# -- the rows ------------------------------------------------------------------------------------------------------
REFERENCES = {  # of real numbers
    "add": np2(np.add), "sub": np2(np.subtract), "mul": np2(np.multiply), "div": np2(np.divide), "neg": lambda x: -x,
    "min": least, "max": greatest, "mod": mod,
    "pow": lambda x, y: half_power(x) if y == 0.5 else np2(np.power)(x, y), "half_power": half_power,
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
    "bitand": None, "bitor": None, "bitxor": None, "bitnot": None, "shl": None, "shr": None,
    "abs": abs, "real": lambda x: x, "imag": lambda x: 0.0, "conj": lambda x: x, "complex": complex,
    "angle": lambda x: math.atan2(0.0, x),
    "sqrt": np1(np.sqrt), "cbrt": np1(np.cbrt), "exp": np1(np.exp), "exp2": np1(np.exp2), "expm1": np1(np.expm1),
    "log": np1(np.log), "log2": np1(np.log2), "log10": np1(np.log10), "log1p": np1(np.log1p),
    "sin": np1(np.sin), "cos": np1(np.cos), "tan": np1(np.tan), "asin": np1(np.arcsin), "acos": np1(np.arccos),
    "atan": np1(np.arctan), "sinh": np1(np.sinh), "cosh": np1(np.cosh), "tanh": np1(np.tanh),
    "asinh": np1(np.arcsinh), "acosh": np1(np.arccosh), "atanh": np1(np.arctanh),
    "atan2": np2(np.arctan2), "hypot": np2(np.hypot),
    "erf": math.erf, "erfc": math.erfc, "lgamma": gamma(math.lgamma), "tgamma": gamma(math.gamma),
    "rsqrt": np1(lambda x: 1 / np.sqrt(x)), "factorial": factorial, "mirror_ext": None,
    "erfinv": erfinv, "erfcinv": erfcinv,
    "floor": rounding(math.floor), "ceil": rounding(math.ceil), "trunc": rounding(math.trunc), "round": half_away,
    "frac": frac, "sign": sign, "nextpow2": nextpow2,
    "saturate": lambda x: least(greatest(x, 0.0), 1.0), "clamp": lambda x, lo, hi: least(greatest(x, lo), hi),
    "clamp2": lambda x, hi: least(greatest(x, 0.0), hi), "lerp": lambda a, b, t: np2(np.add)(a * (1 - t), b * t),
    "softsign": np1(lambda x: x / (1 + np.abs(x))),
    "isnan": lambda x: x != x, "isinf": math.isinf, "isfinite": math.isfinite,
}
WHOLE = {  # of integers with integer results: computed with Python's integers, before conversion to their type
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "neg": lambda x: -x,
    "min": min, "max": max, "abs": abs, "real": lambda x: x, "imag": lambda x: 0, "conj": lambda x: x,
    "floor": lambda x: x, "ceil": lambda x: x, "round": lambda x: x, "trunc": lambda x: x,
    "sign": lambda x: (x > 0) - (x < 0), "nextpow2": lambda x: 1 << max(x - 1, 0).bit_length(),
    "clamp": lambda x, lo, hi: min(max(x, lo), hi), "clamp2": lambda x, hi: min(max(x, 0), hi),
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y, "bitand": lambda x, y: x & y, "bitor": lambda x, y: x | y,
    "bitxor": lambda x, y: x ^ y, "bitnot": lambda x: ~x, "mod": lambda x, a: x % a if a else 0, "mirror_ext": mirrored,
    "shl": lambda x, n: shifted(x, n), "shr": lambda x, n: shifted(x, -n), "lerp": lambda a, b, t: a * (1 - t) + b * t,
}
NO_BITS = [2.5, -0.5, NAN, INF, 2.0**63, 1e300]  # floats that are not 64-bit integers: an error
SATURATES = {"abs", "nextpow2"}  # where the result does not fit its type; the others wrap


def shifted(x, n): return x << min(n, 99) if n >= 0 else x >> min(-n, 99)


def npz(f): return lambda *z: complex(f(*map(np.complex128, z)))


# For complex numbers with parts that are infinite or nan, and of divisors that are 0: as in C99's annex G.
ENDLESS = {name: npz(f) for name, f in {
    "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "div": np.divide, "conj": np.conj, "neg": np.negative,
    "add": np.add, "sub": np.subtract}.items()}
ENDLESS.update(abs=np.abs, angle=np.angle, real=np.real, imag=np.imag)


def scaled(f):
    """f(z, |z|) of numbers whose modulus may be too large, too."""
    def g(z):
        k = 0.25 if max(abs(z.real), abs(z.imag)) > 1e307 else 1.0
        return f(z * k, abs(z * k), k)
    return g


def power(x, y):
    if x == 0: return 0j if y.real > 0 else 1 + 0j if y == 0 else complex(NAN, NAN)
    return x ** y if abs(x) > 1e-300 and abs(y) < 1e3 else None


COMPLEX = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "neg": lambda x: -x,
    "div": lambda x, y: x / y if y else None, "pow": power,
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y,
    "abs": abs, "real": lambda z: z.real, "imag": lambda z: z.imag, "conj": lambda z: z.conjugate(),
    "angle": cmath.phase, "sqrt": cmath.sqrt, "exp": cmath.exp, "exp2": lambda z: cmath.exp(z * math.log(2)),
    "log": cmath.log, "log2": lambda z: cmath.log(z) / math.log(2), "log10": cmath.log10,
    "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan, "sinh": cmath.sinh, "cosh": cmath.cosh, "tanh": cmath.tanh,
    "asin": cmath.asin, "acos": cmath.acos, "atan": cmath.atan, "asinh": cmath.asinh, "acosh": cmath.acosh,
    "atanh": cmath.atanh,
    "floor": lambda z: complex(math.floor(z.real), math.floor(z.imag)),
    "ceil": lambda z: complex(math.ceil(z.real), math.ceil(z.imag)),
    "trunc": lambda z: complex(math.trunc(z.real), math.trunc(z.imag)),
    "round": lambda z: complex(half_away(z.real), half_away(z.imag)),
    "sign": scaled(lambda z, size, k: 0j if not z else z / size if size > 1e-300 else None),
    "lerp": lambda a, b, t: a * (1 - t) + b * t,
    "softsign": scaled(lambda z, size, k: z / (k + size)),
    "isnan": cmath.isnan, "isinf": cmath.isinf, "isfinite": cmath.isfinite,
}
