#!/usr/bin/env python3
"""Makes the polynomials of vm/base/math_formulas.h and emit_math.c:  tools/mathpoly.py > vm/base/mathpoly.def

Each is the Chebyshev interpolant of its function, computed with 60 digits, of the least degree that keeps the error
below 2^-5 (float32; 2^-3 in formulas that are for float32 only, where one step less counts more) or 2^-4 (float64)
units of the last place of the result; needs mpmath.  `share` is what the polynomial's value is worth in the result, so
that what corrects a small term needs few digits, and what goes into an exponent needs more."""
import mpmath as mp

mp.mp.dps = 60
X = mp.mpf


def ratio(f, g, limit, series):
    """f/g, by its Taylor series near 0, where f/g loses all digits."""
    return lambda t: f(t) / g(t) if abs(t) > limit else mp.polyval(series[::-1], t)


def taylor(f, n, at=0):
    return mp.taylor(f, at, n)


def odd(f):
    """(f(t) - t)/t^3 as a function of t^2, by the coefficients of f."""
    c = taylor(f, 61)
    return ratio(lambda z: f(mp.sqrt(z)) - mp.sqrt(z), lambda z: mp.sqrt(z) ** 3, X("1e-3"), c[3::2])


def inner(f):
    """f, whose value at an end of the interval is a limit."""
    return lambda u: f(u * (1 - X("1e-25")))


def stirling(z):
    if z < X("1e-4"):
        return sum(mp.bernoulli(2 * n) / (2 * n * (2 * n - 1)) * z ** (n - 1) for n in range(1, 12))
    x = 1 / mp.sqrt(z)
    return (mp.loggamma(x) - (x - X(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2) * x


def scaled_erfc(t, a=4):
    x = a * (1 + t) / (1 - t)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x) - X("1.25")


half_log2 = mp.log(2) / 2
exp_c, log_c, sin_c, cos_c = (taylor(f, 61) for f in (mp.exp, mp.atanh, mp.sin, mp.cos))
log_z = [2 * c for c in log_c[3::2]]
log_rest = ratio(lambda z: 2 * mp.atanh(mp.sqrt(z)) - 2 * mp.sqrt(z), lambda z: mp.sqrt(z) ** 3, X("1e-3"), log_z)
rest_of_exp = ratio(lambda r: mp.exp(r) - 1 - r, lambda r: r * r, X("1e-4"), exp_c[2:])
quarter_turn = mp.pi / 2 * X("1.001")  # a little more than what is left of an angle
rows = [  # name, function, interval, share of the value in the result, what it is
    ("exp", rest_of_exp, (-half_log2, half_log2), lambda r: r, "(exp(r) - 1 - r)/r^2"),
    ("exp_rest", lambda r: (rest_of_exp(r) - X(1) / 2) / r if abs(r) > X("1e-4") else mp.polyval(exp_c[:2:-1], r),
     (-half_log2, half_log2), lambda r: abs(r) ** 3 * 8, "what is left of it behind 1/2, over r"),
    ("exp_wide", rest_of_exp, (-2 * half_log2, 2 * half_log2), lambda r: r * r / mp.exp(r), "the same"),
    ("log", log_rest, (0, X("0.02944")), lambda z: z / 2, "(2 atanh(s) - 2s)/s^3, z = s^2"),
    ("log_rest", lambda z: (log_rest(z) - X(2) / 3) / z if z > X("1e-4") else mp.polyval(log_z[:0:-1], z),
     (0, X("0.02944")), lambda z: z * z * 1024, "what is left of it behind 2/3, over z"),
    ("cbrt", lambda v: 1 / mp.cbrt(v), (mp.sqrt(X("0.5")), mp.sqrt(2)), lambda v: X(2) ** -46,
     "1/cbrt(v), for an estimate"),
    ("sin", odd(mp.sin), (0, X("0.62")), lambda z: z, "(sin(r) - r)/r^3, z = r^2"),
    ("sin_wide", odd(mp.sin), (0, quarter_turn ** 2), lambda z: z * quarter_turn, "the same"),
    ("cos", ratio(lambda z: mp.cos(mp.sqrt(z)) - 1 + z / 2, lambda z: z * z, X("1e-3"), cos_c[4::2]), (0, X("0.62")),
     lambda z: z * z / mp.cos(mp.sqrt(z)), "(cos(r) - 1 + z/2)/z^2"),
    ("atan", odd(mp.atan), (0, X("0.1716")), lambda z: z, "(atan(t) - t)/t^3, z = t^2"),
    ("asin", odd(mp.asin), (0, X("0.25")), lambda z: z, "(asin(t) - t)/t^3"),
    ("sinh", odd(mp.sinh), (0, X(1)), lambda z: z, "(sinh(t) - t)/t^3"),
    ("tanh", odd(mp.tanh), (0, X("0.3025")), lambda z: z, "(tanh(t) - t)/t^3"),
    ("asinh", odd(mp.asinh), (0, X("0.5625")), lambda z: z, "(asinh(t) - t)/t^3"),
    ("erf", ratio(lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1, lambda z: 1, X("1e-30"), [2 / mp.sqrt(mp.pi) - 1]),
     (0, X("0.81")), lambda z: 1, "erf(t)/t - 1"),
    ("erfc", scaled_erfc, ((X("0.5") - 4) / (X("0.5") + 4), (X(28) - 4) / (X(28) + 4)), lambda t: 1,
     "(1 + 2x) exp(x^2) erfc(x) - 5/4, t = (x - 4)/(x + 4)"),
    ("stirling", stirling, (0, X(1) / 64), lambda z: X(1) / 8,
     "x (log gamma(x) - (x - 1/2) log x + x - log(2 pi)/2), z = 1/x^2"),
    ("lgamma1", inner(lambda u: mp.loggamma(u + X("1.5")) / (u * u - X("0.25"))), (X("-0.5"), X("0.5")), lambda u: 1,
     "log gamma(x)/((x - 1)(x - 2)), u = x - 1.5"),
    ("lgamma2", inner(lambda u: mp.loggamma(u + X("2.5")) / (u + X("0.5"))), (X("-0.5"), X("0.5")), lambda u: 1,
     "log gamma(x)/(x - 2), u = x - 2.5"),
    ("gamma", lambda u: mp.gamma(u + X("2.5")), (X("-0.5"), X("0.5")), lambda u: 1, "gamma(x), u = x - 2.5"),
]
wide_only = ("exp_rest", "stirling", "lgamma1", "lgamma2", "gamma")
narrow_only = ("exp_wide", "sin_wide")


def rounded(c, bits):
    if bits == 64:
        return X(float(c))
    m, e = mp.frexp(c)
    return mp.nint(m * 2 ** 24) * X(2) ** (e - 24) if c else c


def error(f, c, lo, hi, share):
    """The largest error in the result, in units of its value."""
    worst = X(0)
    for k in range(201):
        t = lo + (hi - lo) * (1 - mp.cos(mp.pi * k / 200)) / 2
        t = t if t else X("1e-20")
        worst = max(worst, abs(mp.polyval(c[::-1], t) - f(t)) * share(t))
    return worst


def fit(f, lo, hi, n):
    nodes = [mp.cos(mp.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    xs = [(lo + hi) / 2 + (hi - lo) / 2 * v for v in nodes]
    return list(mp.lu_solve(mp.matrix([[x ** j for j in range(n)] for x in xs]), mp.matrix([f(x) for x in xs])))


def choose(f, lo, hi, share, goal, bits):
    lo, hi = X(lo), X(hi)
    for n in range(2, 34):
        c = fit(f, lo, hi, n)
        if error(f, c, lo, hi, share) < goal:
            return [rounded(v, bits) for v in c]
    raise ValueError("no polynomial")


print("/* Polynomials, lowest power first, made by tools/mathpoly.py.  Rows: name, bits of the type, coefficients. */")
for name, f, (lo, hi), share, what in rows:
    print(f"/* {what}, in {mp.nstr(X(lo), 4)} .. {mp.nstr(X(hi), 4)} */")
    for bits in (64,) if name in wide_only else (32,) if name in narrow_only else (32, 64):
        goal = X(2) ** (-53 - 4 if bits == 64 else -24 - 3 if name in narrow_only else -24 - 5)
        text = f"POLY({name}, {bits}"
        line = text
        for c in choose(f, lo, hi, share, goal, bits):
            item = float(c).hex() if c else "0"
            m, _, e = item.partition("p")
            item = m.rstrip("0").rstrip(".") + ("p" + e if e else "")
            if len(line) + len(item) + 3 > 118:
                print(line + ",")
                line = "     " + item
            else:
                line += ", " + item
        print(line + ")")
print("#undef POLY")
