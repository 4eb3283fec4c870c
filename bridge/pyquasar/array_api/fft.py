"""The extension fft: Fourier transforms along any dimensions, with lengths and norms, computed by the VM."""
import math as _math

from .. import _bridge
from . import _core as _c, _functions as _f
from ._core import check_device as _check_device


def _scale(n, norm, inverse):
    if norm not in ("backward", "ortho", "forward"):
        raise ValueError('fft: norm must be "backward", "ortho" or "forward", got %r' % (norm,))
    return 1/_math.sqrt(n) if norm == "ortho" else 1/n if (norm == "forward") != inverse else 1.0


def _fitted(x, n, axis):
    """Truncates x, or pads it with zeros, to n elements along a dimension."""
    have = x.shape[axis]
    if n == have:
        return x
    before = (slice(None),)*axis
    if n < have:
        return x[before + (slice(0, n),)]
    return _f.concat([x, _c.zeros(x.shape[:axis] + (n - have,) + x.shape[axis + 1:], dtype=x.dtype)], axis=axis)


def _checked(x, what, pairs):
    d = _c.dtype_of(x)
    if d.kind not in (_c.FLOATS if pairs else ("real floating",)):
        wanted = "floats" if pairs else "real floats"
        raise TypeError("%s: %s are wanted, got elements of type %s" % (what, wanted, d.name))


def _length(x, n, axis, what):
    n = x.shape[axis] if n is None else n
    if n < 1:
        raise ValueError("%s: at least one element is wanted, got %d" % (what, n))
    return n


def _transform(x, n, axis, norm, inverse):
    """Transforms along one axis.  The language divides its inverse transform by n, but not its forward transform."""
    x = _c.astype(_fitted(x, n, axis), _c.complex_of(x.dtype), copy=False)
    rows, back = _f._rows(x, axis)
    if not rows.size:
        return _c.packed(back(rows))
    r = _f.reshape(_f.language("ifft1" if inverse else "fft1", rows, 1), rows.shape)
    scale = _scale(n, norm, inverse)*(n if inverse else 1)
    return _c.packed(back(r if scale == 1 else r*scale))


def fft(x, /, *, n=None, axis=-1, norm="backward"):
    """The Fourier transform along a dimension, of n elements."""
    _checked(x, "fft", True)
    axis = _c.axis_of(axis, x.ndim)
    return _transform(x, _length(x, n, axis, "fft"), axis, norm, False)


def ifft(x, /, *, n=None, axis=-1, norm="backward"):
    """The inverse of fft."""
    _checked(x, "ifft", True)
    axis = _c.axis_of(axis, x.ndim)
    return _transform(x, _length(x, n, axis, "ifft"), axis, norm, True)


def _lengths(x, s, axes):
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    axes = [_c.axis_of(i, x.ndim) for i in axes]
    s = [x.shape[i] for i in axes] if s is None else [x.shape[i] if n == -1 else n for n, i in zip(s, axes)]
    if len(set(axes)) < len(axes) or len(s) != len(axes):
        raise ValueError("fft: as many lengths as different axes are wanted")
    return s, axes


def _along_all(f, x, s, axes, norm):
    for n, axis in zip(s, axes):
        x = f(x, n=n, axis=axis, norm=norm)
    return x


def fftn(x, /, *, s=None, axes=None, norm="backward"):
    """The Fourier transform along several dimensions."""
    return _along_all(fft, x, *_lengths(x, s, axes), norm)


def ifftn(x, /, *, s=None, axes=None, norm="backward"):
    """The inverse of fftn."""
    return _along_all(ifft, x, *_lengths(x, s, axes), norm)


def rfft(x, /, *, n=None, axis=-1, norm="backward"):
    """The first half of the transform of real numbers; the other half is its conjugate."""
    _checked(x, "rfft", False)
    axis = _c.axis_of(axis, x.ndim)
    n = _length(x, n, axis, "rfft")
    return _c.packed(fft(x, n=n, axis=axis, norm=norm)[(slice(None),)*axis + (slice(0, n // 2 + 1),)])


def irfft(x, /, *, n=None, axis=-1, norm="backward"):
    """The inverse of rfft: n real numbers."""
    _checked(x, "irfft", True)
    axis = _c.axis_of(axis, x.ndim)
    n = 2*(x.shape[axis] - 1) if n is None else n
    if n < 1:
        raise ValueError("irfft: at least one element is wanted, got %d" % n)
    half, before = _c.astype(_fitted(x, n // 2 + 1, axis), _c.complex_of(x.dtype)), (slice(None),)*axis
    for edge in (0, n // 2) if n % 2 == 0 else (0,):  # they must be real; their imaginary parts are ignored
        at = before + (slice(edge, edge + 1),)
        half[at] = _bridge._xp_real(half[at])*(1 + 0j)
    rest = half[before + (slice(1, (n - 1) // 2 + 1),)]
    whole = _f.concat([half, _bridge._xp_conj(_f.flip(rest, axis=axis))], axis=axis)
    return _bridge._xp_real(ifft(whole, axis=axis, norm=norm))


def rfftn(x, /, *, s=None, axes=None, norm="backward"):
    """rfft along the last of several dimensions, fft along the others."""
    _checked(x, "rfftn", False)
    s, axes = _lengths(x, s, axes)
    return _along_all(fft, rfft(x, n=s[-1], axis=axes[-1], norm=norm), s[:-1], axes[:-1], norm)


def irfftn(x, /, *, s=None, axes=None, norm="backward"):
    """The inverse of rfftn."""
    given = s is not None
    s, axes = _lengths(x, s, axes)
    last = s[-1] if given else 2*(s[-1] - 1)
    return irfft(_along_all(ifft, x, s[:-1], axes[:-1], norm), n=last, axis=axes[-1], norm=norm)


_OTHER = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def hfft(x, /, *, n=None, axis=-1, norm="backward"):
    """The real transform of a signal with Hermitian symmetry; x is the first half of the signal."""
    _scale(1, norm, False)
    return irfft(_bridge._xp_conj(_c.astype(x, _c.complex_of(x.dtype), copy=False)), n=n, axis=axis, norm=_OTHER[norm])


def ihfft(x, /, *, n=None, axis=-1, norm="backward"):
    """The inverse of hfft."""
    _scale(1, norm, False)
    return _bridge._xp_conj(rfft(x, n=n, axis=axis, norm=_OTHER[norm]))


def fftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of the elements of fft, for the sample spacing d."""
    _check_device(device)
    i = _c.arange(n)
    i = _bridge._xp_where(i < (n + 1) // 2, i, i - n)
    return _c.astype(_c.astype(i, _c.float64)/(n*d), dtype or _c.float64, copy=False)


def rfftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of the elements of rfft, for the sample spacing d."""
    _check_device(device)
    return _c.astype(_c.astype(_c.arange(n // 2 + 1), _c.float64)/(n*d), dtype or _c.float64, copy=False)


def fftshift(x, /, *, axes=None):
    """x with frequency 0 moved to the middle."""
    axes = _c.axes_of(axes, x.ndim)
    return _f.roll(x, tuple(x.shape[i] // 2 for i in axes), axis=axes)


def ifftshift(x, /, *, axes=None):
    """The inverse of fftshift."""
    axes = _c.axes_of(axes, x.ndim)
    return _f.roll(x, tuple(-(x.shape[i] // 2) for i in axes), axis=axes)


__all__ = ["fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn",
           "rfft", "rfftfreq", "rfftn"]
