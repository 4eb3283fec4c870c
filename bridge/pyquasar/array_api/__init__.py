"""The Array API standard, version 2024.12, on arrays of the language.

    import pyquasar.array_api as xp
    xp.asarray([100, 100], dtype=xp.int8) + 100           # int8, which wraps

Its arrays are values of the language whose operators follow the standard: types are kept, and combinations that the
standard leaves undefined are errors.  asarray(value) and plain(x) convert between the two without a copy, and functions
and kernels of scripts accept both.  The first array opens the VM like init("cpu"), unless it is open."""
from math import e, inf, nan, pi

from .. import _bridge
from ._core import (Array, BY_CODE as _BY_CODE, arange, asarray, astype, bool_ as bool, broadcast_arrays, broadcast_to,
                    can_cast, complex128, complex64, empty, empty_like, eye, finfo, float32, float64, from_dlpack, full,
                    full_like, iinfo, int16, int32, int64, int8, isdtype, linspace, matrix_transpose, meshgrid, ones,
                    ones_like, plain, result_type, tril, triu, uint16, uint32, uint64, uint8, zeros, zeros_like)
from ._functions import (all, any, argmax, argmin, argsort, clip, concat, count_nonzero, cumulative_prod,
                         cumulative_sum, diff, expand_dims, flip, matmul, max, mean, min, moveaxis, nonzero,
                         permute_dims, prod, repeat, reshape, roll, searchsorted, sort, squeeze, stack, std, sum, take,
                         take_along_axis, tensordot, tile, unique_all, unique_counts, unique_inverse, unique_values,
                         unstack, var, vecdot)
from ._info import __array_namespace_info__
from . import fft, linalg

newaxis = None
__array_api_version__ = "2024.12"

ELEMENTWISE = _bridge._xp__rows()  # (name, number of arguments, result, description, codes of its types)
for _row in ELEMENTWISE:
    globals()[_row[0]] = getattr(_bridge, "_xp_" + _row[0])
del _row

__all__ = sorted(name for name in globals() if not name.startswith("_") and name not in ("Array", "ELEMENTWISE"))
