#!/usr/bin/env python3
"""Makes the reference data of tests/scripts/lib/golden_*.q with NumPy and SciPy, as .npz files beside this script.
They are in the tree, so that the tests need neither."""
import os
import numpy as np
from scipy import integrate, ndimage, signal

HERE = os.path.dirname(os.path.abspath(__file__))


def save(name, **arrays):
    np.savez(os.path.join(HERE, name), **{k: np.asarray(v, np.float64) for k, v in arrays.items()})


def statistics(rng):
    x, w = rng.normal(size=37), rng.normal(size=(5, 7))
    holes = np.where(rng.random(40) < 0.3, np.nan, rng.normal(size=40))
    p = [0, 5, 33.3, 50, 90, 100]
    save("statistics.npz", x=x, w=w, holes=holes, p=p, percentile=np.percentile(x, p),
         lower=np.percentile(x, p, method="lower"), higher=np.percentile(x, p, method="higher"),
         nearest=np.percentile(x, p, method="nearest"), midpoint=np.percentile(x, p, method="midpoint"),
         rows=np.percentile(w, p, axis=1).T, nansum=[np.nansum(holes)], nanmean=[np.nanmean(holes)],
         cov=np.cov(w, rowvar=False), corrcoef=np.corrcoef(w, rowvar=False),
         diff=np.diff(w, axis=0), cumulative=integrate.cumulative_trapezoid(w, axis=1, initial=0))


def sampled(rng):
    x, y, at = np.cumsum(rng.random(20)), rng.normal(size=20), np.sort(rng.random(15) * 6 + 1)
    a, b = rng.normal(size=(9, 8)), rng.normal(size=(3, 4))
    u, v = rng.random(11) * 7, rng.random(11) * 8
    counts, edges = np.histogram(y, 6)
    save("sampled.npz", x=x, y=y, at=at, interp1=np.interp(at, x, y), trapz=[integrate.trapezoid(y, x)],
         a=a, b=b, full=signal.convolve2d(a, b), same=signal.convolve2d(a, b[:, :3], "same"),
         valid=signal.convolve2d(a, b, "valid"), conv=np.convolve(x, y), kron=np.kron(a, b),
         u=u, v=v, interp2=ndimage.map_coordinates(a, [v, u], order=1), counts=counts, edges=edges,
         polyfit=np.polyfit(x, y, 4), polyval=np.polyval(y[:5], x))


rng = np.random.default_rng(1)
statistics(rng)
sampled(rng)
