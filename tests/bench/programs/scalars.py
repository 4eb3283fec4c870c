"""Scalar and integer loops, for Numba."""
import numpy as np
from peers import numba, d, f, i, field, integers, pattern


def just_n(n):
    return n,


@numba(100000, 100, just_n, lambda n: [d(1)])
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


@numba(1000000, 200, just_n, lambda n: [d(1)])
def sieve(n):
    composite = np.zeros(n, np.int32)
    count = 0
    for i in range(2, n):
        if composite[i] == 0:
            count += 1
            j = i*i
            while j < n:
                composite[j] = 1
                j += i
    return count


@numba(700, 30, just_n, lambda n: [d(1)])
def gcd_sum(n):
    total = 0
    for i in range(1, n):
        for j in range(i, n):
            a, b = i, j
            while b != 0:
                a, b = b, a % b
            total += a
    return total


@numba(1000000, 200, just_n, lambda n: [d(1)])
def monte_carlo(n):
    seed = 12345
    inside = 0
    for k in range(n):
        seed = (seed*1103 + 12347) % 2147483
        x = seed/2147483
        seed = (seed*1103 + 12347) % 2147483
        z = seed/2147483
        if x*x + z*z < 1:
            inside += 1
    return 4*inside/n


@numba(5000000, 200, just_n, lambda n: [d(1)])
def leibniz(n):
    y = 0.0
    sign = 1.0
    for k in range(n):
        y += sign/(2*k + 1)
        sign = -sign
    return 4*y


def curve(x):
    return np.exp(-x*x)*np.sin(3*x) + 1/(1 + x*x)


@numba(1000000, 100, just_n, lambda n: [d(1)])
def simpson(n):
    h = 4/n
    y = curve(0.0) + curve(4.0)
    for k in range(1, n):
        if k % 2 == 1:
            y += 4*curve(k*h)
        else:
            y += 2*curve(k*h)
    return y*h/3


def acceleration(x, v):
    return (1 - x*x)*v - x


@numba(500000, 100, just_n, lambda n: [d(1), d(1)])
def runge_kutta(n):
    x = 0.5
    v = 0.0
    h = 0.001
    for k in range(n):
        k1 = v
        l1 = acceleration(x, v)
        k2 = v + 0.5*h*l1
        l2 = acceleration(x + 0.5*h*k1, v + 0.5*h*l1)
        k3 = v + 0.5*h*l2
        l3 = acceleration(x + 0.5*h*k2, v + 0.5*h*l2)
        k4 = v + h*l3
        l4 = acceleration(x + h*k3, v + h*l3)
        x += h*(k1 + 2*k2 + 2*k3 + k4)/6
        v += h*(l1 + 2*l2 + 2*l3 + l4)/6
    return x, v


@numba(400, 16, just_n, lambda n: [i(n, n)], mean=True)
def newton_fractal(n):
    steps = np.zeros((n, n), np.int32)
    for i in range(n):
        for j in range(n):
            x = 4*(j + 0.3)/n - 2
            y = 4*(i + 0.3)/n - 2
            k = 0
            while k < 40:
                x2 = x*x
                y2 = y*y
                a = x*x2 - 3*x*y2 - 1
                b = 3*x2*y - y*y2
                if a*a + b*b < 0.000001:
                    break
                c = 3*(x2 - y2)
                e = 6*x*y
                m = c*c + e*e
                x -= (a*c + b*e)/m
                y -= (b*c - a*e)/m
                k += 1
            steps[i, j] = k
    return steps


@numba(250, 16, just_n, lambda n: [i(n, n)], mean=True, tolerance=1e-3)
def mandelbrot(n):
    steps = np.zeros((n, n), np.int32)
    for i in range(n):
        for j in range(n):
            cx = 3*j/n - 2.25
            cy = 3*i/n - 1.5
            x = 0.0
            y = 0.0
            k = 0
            while k < 100 and x*x + y*y < 4:
                t = x*x - y*y + cx
                y = 2*x*y + cy
                x = t
                k += 1
            steps[i, j] = k
    return steps


@numba(500000, 200, just_n, lambda n: [d(1)])
def digit_sums(n):
    count = 0
    for k in range(1, n):
        s = 0
        x = k
        while x > 0:
            s += x % 10
            x //= 10
        if k % s == 0:
            count += 1
    return count


@numba(20000, 500, just_n, lambda n: [d(1)])
def perfect_numbers(n):
    total = 0
    for k in range(2, n):
        s = 1
        for m in range(2, int(np.sqrt(k)) + 1):
            if k % m == 0:
                s += m
                if m*m != k:
                    s += k//m
        if s == k:
            total += k
    return total


@numba(2500, 30, lambda n: (integers(n, 20), integers(n, 20, 53)), lambda n: [d(1)])
def edit_distance(a, b):
    m, n = len(a), len(b)
    row = np.arange(n + 1).astype(np.int32)
    for i in range(1, m+1):
        corner = row[0]
        row[0] = i
        for j in range(1, n+1):
            cost = corner
            if a[i-1] != b[j-1]:
                cost += 1
            corner = row[j]
            row[j] = min(cost, min(row[j] + 1, row[j-1] + 1))
    return row[n]


@numba(800, 20, lambda n: (integers(n, 50) + np.int32(1), integers(n, 100, 53)), lambda n: [d(1)])
def knapsack(weight, value):
    n = len(weight)
    capacity = 20*n
    best = np.zeros(capacity + 1, np.float32)
    for i in range(n):
        for c in range(capacity, weight[i] - 1, -1):
            best[c] = max(best[c], best[c - weight[i]] + value[i])
    return best[capacity]


@numba(200000, 100, lambda n: (np.arange(n).astype(np.float32), np.floor(np.float32(n)*pattern(n, 53))),
       lambda n: [i(n)])
def binary_search(list, wanted):
    n = len(list)
    y = np.zeros(n, np.int32)
    for i in range(n):
        lo = 0
        hi = n - 1
        while lo < hi:
            middle = (lo + hi)//2
            if list[middle] < wanted[i]:
                lo = middle + 1
            else:
                hi = middle
        y[i] = lo
    return y


@numba(6000, 40, lambda n: (pattern(n, 37),), lambda n: [f(n)])
def insertion_sort(x):
    x = x.copy()
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j+1] = x[j]
            j -= 1
        x[j+1] = key
    return x


@numba(100000, 50, lambda n: (pattern(n, 37, 100003),), lambda n: [f(n)])
def quick_sort(x):
    x = x.copy()
    bounds = np.zeros(200, np.int32)
    bounds[1] = len(x) - 1
    top = 2
    while top > 0:
        top -= 2
        lo = bounds[top]
        hi = bounds[top+1]
        if lo < hi:
            pivot = x[(lo + hi)//2]
            i = lo
            j = hi
            while i <= j:
                while x[i] < pivot:
                    i += 1
                while x[j] > pivot:
                    j -= 1
                if i <= j:
                    x[i], x[j] = x[j], x[i]
                    i += 1
                    j -= 1
            bounds[top] = lo
            bounds[top+1] = j
            bounds[top+2] = i
            bounds[top+3] = hi
            top += 4
    return x


@numba(40000, 50, lambda n: (integers(8*n, n), pattern(8*n, 53)/np.float32(4), pattern(n, 71)), lambda n: [f(n)])
def sparse_product(columns, values, x):
    n = len(x)
    x = x.copy()
    y = np.zeros(n, np.float32)
    for t in range(40):
        for i in range(n):
            s = np.float32(0)
            for k in range(8*i, 8*i+8):
                s += values[k]*x[columns[k]]
            y[i] = s
        for i in range(n):
            x[i] = y[i]
    return x


@numba(1000, 12, lambda n: (field(n, 3), np.zeros((n, 3), np.float32)), lambda n: [f(n, 3)])
def gravity(p, v):
    p, v = p.copy(), v.copy()
    n = p.shape[0]
    one = np.float32(1)
    for t in range(10):
        for i in range(n):
            ax = ay = az = np.float32(0)
            for j in range(n):
                dx = p[j, 0] - p[i, 0]
                dy = p[j, 1] - p[i, 1]
                dz = p[j, 2] - p[i, 2]
                r = dx*dx + dy*dy + dz*dz + np.float32(0.01)
                w = one/(r*np.sqrt(r))
                ax += dx*w
                ay += dy*w
                az += dz*w
            v[i, 0] += 0.0001*ax
            v[i, 1] += 0.0001*ay
            v[i, 2] += 0.0001*az
        for i in range(n):
            for k in range(3):
                p[i, k] += 0.01*v[i, k]
    return p


@numba(500000, 60, just_n, lambda n: [d(1)])
def hash_table(n):
    size = 2*n + 1
    table = np.zeros(size, np.int32)
    key = 17
    for k in range(n):
        key = (key*1103 + 12347) % 1000003
        at = key*31 % size
        while table[at] != 0 and table[at] != key:
            at += 1
            if at == size:
                at = 0
        table[at] = key
    found = 0
    for k in range(1, n+1):
        at = k*31 % size
        while table[at] != 0 and table[at] != k:
            at += 1
            if at == size:
                at = 0
        if table[at] == k:
            found += 1
    return found


@numba(1500000, 15, just_n, lambda n: [i(100)], tolerance=0.02)
def logistic_map(n):
    counts = np.zeros(100, np.int32)
    x = 0.3
    for k in range(n):
        x = 3.9*x*(1 - x)
        counts[int(100*x)] += 1
    return counts


def dominant(n):
    A = field(n, n)
    A[range(n), range(n)] = n
    return A


@numba(1000, 14, lambda n: (dominant(n), pattern(n, 53)), lambda n: [f(n)])
def gauss_seidel(A, b):
    n = A.shape[0]
    x = np.zeros(n, np.float32)
    for t in range(10):
        for k in range(n):
            s = b[k]
            for j in range(n):
                if j != k:
                    s -= A[k, j]*x[j]
            x[k] = s/A[k, k]
    return x


def near_identity(n):
    A = field(n, n)
    A[range(n), range(n)] += np.float32(3)
    return A


@numba(200, 12, lambda n: (near_identity(n),), lambda n: [f(n, n), f(n, n)], tolerance=1e-2)
def qr_columns(A):
    n = A.shape[1]
    Q, R = A.copy(), np.zeros((n, n), np.float32)
    for k in range(n):
        R[k, k] = np.sqrt(np.sum(Q[:, k]**2))
        Q[:, k] /= R[k, k]
        for j in range(k + 1, n):
            R[k, j] = np.sum(Q[:, k]*Q[:, j])
            Q[:, j] -= R[k, j]*Q[:, k]
    return Q, R
