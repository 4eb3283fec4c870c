"""Scalar and integer loops, for Numba."""
import numpy as np
from peers import numba, d, f, i, field, integers, pattern


def n_only(n):
    return n,


@numba(100000, 100, n_only, lambda n: [d(1)])
def collatz(n):
    longest = 0
    best = 0
    for start in range(1, n):
        x = start
        steps = 0
        while x != 1:
            if x % 2 == 0:
                x //= 2
            else:
                x = 3*x + 1
            steps += 1
        if steps > longest:
            longest = steps
            best = start
    return best
