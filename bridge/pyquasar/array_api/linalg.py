"""The extension linalg: factorizations of each matrix of a stack, computed by the VM."""
from collections import namedtuple as _namedtuple

from .. import _bridge
from . import _core as _c, _functions as _f
from ._core import matrix_transpose
from ._functions import matmul, tensordot, vecdot

EighResult = _namedtuple("EighResult", "eigenvalues eigenvectors")
QRResult = _namedtuple("QRResult", "Q R")
SlogdetResult = _namedtuple("SlogdetResult", "sign logabsdet")
SVDResult = _namedtuple("SVDResult", "U S Vh")


def _check(x, what, square=True):
    if _c.dtype_of(x).kind not in _c.FLOATS:
        raise TypeError("%s: floats are wanted, got elements of type %s" % (what, _c.dtype_of(x).name))
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        raise ValueError("%s: %smatrices are wanted, got shape %s" % (what, "square " if square else "", x.shape))


def _each(x, f, *shapes, dtypes=None):
    """Applies f to each matrix of a stack; returns arrays of these shapes, of the type of x."""
    stack, d = x.shape[:-2], _c.dtype_of(x)
    dtypes = [t or d for t in dtypes or (None,)*len(shapes)]
    if not stack:
        return [_one(*r) for r in zip(f(_c.packed(x)), shapes, dtypes)]
    out = [_c.new(stack + s, t, True) for s, t in zip(shapes, dtypes)]
    matrices = _f.reshape(x, (_f._product(stack),) + x.shape[-2:])
    flat = [_c.with_shape(o, (matrices.shape[0],) + s) for o, s in zip(out, shapes)]
    for i in range(matrices.shape[0]):
        results = f(matrices[i])
        for o, r in zip(flat, results):
            if not isinstance(r, _c.Array):
                o[i, ...] = r if _c.dtype_of(o).kind == "complex floating" else r.real
            elif o[i, ...].size:
                r = _f.reshape(r, o.shape[1:])
                o[i, ...] = r if _c.dtype_of(r) is _c.dtype_of(o) else _c.astype(r, _c.dtype_of(o))
    return out


def _one(r, shape, d):
    """Converts a result of the language, an array or a number, to an array of that shape and type."""
    if isinstance(r, _c.Array):
        return _c.astype(_f.reshape(r, shape), d, copy=False)
    x = _c.new(shape, d)
    x[...] = r if d.kind == "complex floating" else r.real
    return x


def _conj_t(x):
    x = matrix_transpose(x)
    return _bridge._xp_conj(x) if _c.dtype_of(x).kind == "complex floating" else x


def cholesky(x, /, *, upper=False):
    """The lower (or upper) triangular Cholesky factors L with L*L^H = x of positive definite matrices."""
    _check(x, "cholesky")
    r = _each(x, lambda a: (_f.language("chol", a),) if a.size else (a,), x.shape[-2:])[0]
    return r if upper else _c.packed(_conj_t(r))


def det(x, /):
    """The determinants."""
    _check(x, "det")
    if not x.shape[-1]:
        return _c.ones(x.shape[:-2], dtype=_c.dtype_of(x))
    return _each(x, lambda a: (_number(_f.language("det", a)),), ())[0]


def _number(r):
    return _c.item(r) if isinstance(r, _c.Array) else complex(r) if isinstance(r, complex) else float(r)


def slogdet(x, /):
    """The signs and the logarithms of the absolute values of the determinants, from the factors of qr."""
    _check(x, "slogdet")
    d, n = _c.dtype_of(x), x.shape[-1]
    if not n:
        return SlogdetResult(_c.ones(x.shape[:-2], dtype=d), _c.zeros(x.shape[:-2], dtype=_c.real_of(d)))

    def of(a):
        q, r = _f.language("array_api_qr", a)
        sign = _number(_f.language("det", q))
        diagonal = _c.asarray(_c.view(_c.packed(r), (n,), (n + 1,), 0))
        if _f.any(_bridge._xp_equal(diagonal, _c.new((), _c.dtype_of(diagonal), True))):
            return 0.0, -float("inf")
        size = _bridge._xp_abs(diagonal)
        turn = _c.item(_f.prod(diagonal/size))*sign
        return turn/abs(turn), _c.item(_f.sum(_bridge._xp_log(size)))
    return SlogdetResult(*_each(x, of, (), (), dtypes=(None, _c.real_of(d))))


def inv(x, /):
    """The inverse matrices."""
    _check(x, "inv")
    return _each(x, lambda a: (_f.language("inv", a),) if a.size else (a,), x.shape[-2:])[0]


def solve(x1, x2, /):
    """The y with x1 @ y = x2; a vector x2 is one column."""
    _check(x1, "solve")
    d = _c.result_type(x1, x2)
    x1 = _c.astype(x1, d, copy=False)
    vector = x2.ndim == 1
    b = _c.astype(x2[:, None] if vector else x2, d, copy=False)
    if b.shape[-2] != x1.shape[-1]:
        raise ValueError("solve: shapes %s and %s do not match" % (x1.shape, x2.shape))
    stack = _c.broadcast_shapes(x1.shape[:-2], b.shape[:-2])
    n, k = b.shape[-2:]
    if not stack:
        r = _one(_f.language("linsolve", x1, b) if n and k else b, (n, k), d)
        return r[..., 0] if vector else r
    both = _f.concat([_c.broadcast_to(x1, stack + (n, n)), _c.broadcast_to(b, stack + (n, k))], axis=-1)
    r = _each(both, lambda a: (_f.language("linsolve", a[:, :n], a[:, n:]),) if n and k else (a[:, n:],), (n, k))[0]
    return r[..., 0] if vector else r


def qr(x, /, *, mode="reduced"):
    """Orthonormal columns Q and upper triangular R with Q @ R = x."""
    _check(x, "qr", False)
    if mode not in ("reduced", "complete"):
        raise ValueError('qr: mode must be "reduced" or "complete", got %r' % (mode,))
    m, n = x.shape[-2:]
    k = min(m, n) if mode == "reduced" else m
    if not m or not n:
        q = _c.broadcast_to(_c.eye(m, k, dtype=_c.dtype_of(x)), x.shape[:-2] + (m, k))
        return QRResult(_c.packed(q), _c.zeros(x.shape[:-2] + (k, n), dtype=_c.dtype_of(x)))

    def of(a):
        q, r = _f.language("array_api_qr", a)
        if mode == "reduced" or m <= n:
            return q, r
        return _completed(q, m), _f.concat([_f.reshape(r, (n, n)), _c.zeros((m - n, n), dtype=_c.dtype_of(r))])
    return QRResult(*_each(x, of, (m, k), (k, n)))


def _completed(q, m):
    """Extends orthonormal columns to a square matrix: unit vectors are orthogonalized twice against them."""
    q = _f.reshape(q, (m, q.size // m))
    while q.shape[1] < m:
        rest = _c.eye(m, dtype=_c.dtype_of(q)) - matmul(q, _conj_t(q))
        best = _c.item(_f.argmax(_f.sum(_bridge._xp_square(_bridge._xp_abs(rest)), axis=0)))
        v = rest[:, best:best + 1]
        v = v - matmul(q, matmul(_conj_t(q), v))
        q = _f.concat([q, v/vector_norm(v)], axis=1)
    return q


def svd(x, /, *, full_matrices=True):
    """U, S and Vh with U @ diag(S) @ Vh = x; S is descending."""
    _check(x, "svd", False)
    (m, n), d = x.shape[-2:], _c.dtype_of(x)
    k = min(m, n)
    rows, columns = (m, n) if full_matrices else (k, k)
    if not k:
        eyes = (_c.packed(_c.broadcast_to(_c.eye(i, j, dtype=d), x.shape[:-2] + (i, j)))
                for i, j in ((m, rows), (columns, n)))
        u, v = eyes
        return SVDResult(u, _c.zeros(x.shape[:-2] + (k,), dtype=_c.real_of(d)), v)

    def of(a):
        u, s, v = _f.language("array_api_svd", a)
        s = _c.view(_c.packed(s), (k,), (k + 1,), 0) if s.size == k*k else _f.reshape(s, (k,))
        u, v = _f.reshape(u, (m, k)), _f.reshape(v, (n, k))
        if full_matrices:
            u, v = _completed(u, m), _completed(v, n)
        return u, s, _c.packed(_conj_t(v))
    return SVDResult(*_each(x, of, (m, rows), (k,), (columns, n), dtypes=(d, _c.real_of(d), d)))


def svdvals(x, /):
    """The singular values, descending."""
    return svd(x, full_matrices=False).S


def eigh(x, /):
    """Ascending eigenvalues and eigenvectors of symmetric or Hermitian matrices."""
    _check(x, "eigh")
    n, d = x.shape[-1], _c.dtype_of(x)
    if not n:
        return EighResult(_c.zeros(x.shape[:-1], dtype=_c.real_of(d)), _c.zeros(x.shape, dtype=d))
    of = lambda a: tuple(reversed(_f.language("array_api_symeig", a)))
    return EighResult(*_each(x, of, (n,), (n, n), dtypes=(_c.real_of(d), d)))


def eigvalsh(x, /):
    """Ascending eigenvalues of symmetric or Hermitian matrices."""
    return eigh(x).eigenvalues


def matrix_rank(x, /, *, rtol=None):
    """The number of singular values above rtol times the greatest one."""
    s = svdvals(x)
    if rtol is None:
        rtol = max(x.shape[-2:])*_c.finfo(s.dtype).eps
    if not s.shape[-1]:
        return _c.zeros(x.shape[:-2], dtype=_c.int64)
    limit = _f.max(s, axis=-1, keepdims=True)*(_tolerance(rtol, s) if isinstance(rtol, _c.Array) else rtol)
    return _f.count_nonzero(s > limit, axis=-1)


def _tolerance(rtol, s):
    return _f.expand_dims(_c.astype(rtol, s.dtype, copy=False), rtol.ndim)


def pinv(x, /, *, rtol=None):
    """The pseudo-inverse matrices."""
    if rtol is None:
        rtol = max(x.shape[-2:], default=0)*_c.finfo(_c.dtype_of(x)).eps
    u, s, vh = svd(x, full_matrices=False)
    if not s.shape[-1]:
        return _c.zeros(x.shape[:-2] + (x.shape[-1], x.shape[-2]), dtype=_c.dtype_of(x))
    limit = _f.max(s, axis=-1, keepdims=True)*(_tolerance(rtol, s) if isinstance(rtol, _c.Array) else rtol)
    large = s > limit
    inverse = _bridge._xp_where(large, 1/_bridge._xp_where(large, s, 1.0), 0.0)
    return matmul(_conj_t(vh)*inverse[..., None, :], _conj_t(u))


def matrix_power(x, n, /):
    """The matrices raised to an integer power."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError("matrix_power: square matrices are wanted, got shape %s" % (x.shape,))
    if n < 0:
        x, n = inv(x), -n
    r = _c.packed(_c.broadcast_to(_c.eye(x.shape[-1], dtype=_c.dtype_of(x)), x.shape))
    while n:
        r = matmul(r, x) if n & 1 else r
        n >>= 1
        x = matmul(x, x) if n else x
    return r


def _norms(size, ord, axis, keepdims):
    """The norm of absolute values, which are not negative."""
    if ord == float("inf"):
        return _f.max(size, axis=axis, keepdims=keepdims)
    if ord == -float("inf"):
        return _f.min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return _c.astype(_f.count_nonzero(size, axis=axis, keepdims=keepdims), size.dtype)
    if ord == 1:
        return _f.sum(size, axis=axis, keepdims=keepdims)
    if ord == 2:
        return _bridge._xp_sqrt(_f.sum(size*size, axis=axis, keepdims=keepdims))
    return _f.sum(size**float(ord), axis=axis, keepdims=keepdims)**(1/ord)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The norm of all elements, or of vectors along dimensions."""
    if _c.dtype_of(x).kind not in _c.FLOATS:
        raise TypeError("vector_norm: floats are wanted, got elements of type %s" % _c.dtype_of(x).name)
    return _norms(_bridge._xp_abs(x), ord, _c.axes_of(axis, x.ndim), keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norms of matrices: "fro", "nuc", 1, 2, inf, and -1, -2, -inf."""
    _check(x, "matrix_norm", False)
    size = _bridge._xp_abs(x)
    if ord == "fro" or ord is None:
        r = _norms(size, 2, (-2, -1), True)
    elif ord in (1, -1, float("inf"), -float("inf")):
        along = -2 if ord in (1, -1) else -1
        r = (_f.max if ord > 0 else _f.min)(_f.sum(size, axis=along, keepdims=True), axis=-3 - along, keepdims=True)
    elif ord in ("nuc", 2, -2):
        s = svdvals(x)
        r = (_f.sum if ord == "nuc" else _f.max if ord == 2 else _f.min)(s, axis=-1)[..., None, None]
    else:
        raise ValueError("matrix_norm: there is no norm %r" % (ord,))
    return r if keepdims else r[..., 0, 0]


def cross(x1, x2, /, *, axis=-1):
    """Cross products of vectors of three numbers."""
    a, b = _f._met(x1, x2, axis, "cross")
    if a.shape[-1] != 3:
        raise ValueError("cross: vectors of 3 numbers are wanted, got %d" % a.shape[-1])
    part = lambda i, j: a[..., i]*b[..., j] - a[..., j]*b[..., i]
    return _f.moveaxis(_f.stack([part(1, 2), part(2, 0), part(0, 1)], axis=-1), -1, axis)


def outer(x1, x2, /):
    """All products of the elements of two vectors."""
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError("outer: vectors are wanted, got %d and %d dimensions" % (x1.ndim, x2.ndim))
    return x1[:, None]*x2[None, :]


def diagonal(x, /, *, offset=0):
    """The diagonals of matrices, in the same memory."""
    if x.ndim < 2:
        raise ValueError("diagonal: matrices are wanted, got shape %s" % (x.shape,))
    s = _c.strides_of(x)
    n = max(0, min(x.shape[-2] + min(offset, 0), x.shape[-1] - max(offset, 0)))
    start = (offset*s[-1] if offset > 0 else -offset*s[-2]) if n else 0
    return _c.view(x, x.shape[:-2] + (n,), s[:-2] + (s[-2] + s[-1],), start)


def trace(x, /, *, offset=0, dtype=None):
    """The sums of the diagonals."""
    return _f.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


__all__ = ["cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power",
           "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
           "trace", "vecdot", "vector_norm"]
