"""Scripts of numbers, for CPython; LuaJIT runs scripts.lua."""
from peers import script, d


@script(30, 10, lambda n: [d(1)])
def fib(n):
    return n if n < 2 else fib(n-1) + fib(n-2)


def takeuchi(a, b, c):
    return c if b >= a else takeuchi(takeuchi(a-1, b, c), takeuchi(b-1, c, a), takeuchi(c-1, a, b))


@script(24, 6, lambda n: [d(1)])
def tak(n):
    return takeuchi(n, 2*n//3, n//3)


def transfer(n, start, to, other):
    return transfer(n-1, start, other, to) + 1 + transfer(n-1, other, to, start) if n > 0 else 0


@script(21, 6, lambda n: [d(1)])
def hanoi(n):
    return transfer(n, 1, 3, 2)


def place(row, n, columns, up, down):
    if row == n:
        return 1
    count = 0
    for c in range(n):
        if columns[c] == 0 and up[row+c] == 0 and down[row-c+n] == 0:
            columns[c] = up[row+c] = down[row-c+n] = 1
            count += place(row + 1, n, columns, up, down)
            columns[c] = up[row+c] = down[row-c+n] = 0
    return count


@script(9, 5, lambda n: [d(1)])
def queens(n):
    return place(0, n, [0]*n, [0]*(2*n), [0]*(2*n))


def squares(k):
    s = 0
    while k > 0:
        s += (k % 10)**2
        k //= 10
    return s


@script(50000, 50, lambda n: [d(1)])
def happy(n):
    count = 0
    for k in range(1, n+1):
        x = k
        while x != 1 and x != 4:
            x = squares(x)
        if x == 1:
            count += 1
    return count


@script(2000000, 100, lambda n: [d(1), d(1)])
def harmonic(n):
    s = 0
    terms = 0
    for k in range(1, n+1):
        s += 1/k
        if terms == 0 and s > 10:
            terms = k
    return s, terms


def is_prime(k):
    m = 2
    while m*m <= k:
        if k % m == 0:
            return False
        m += 1
    return k > 1


@script(50000, 100, lambda n: [d(1)])
def trial_division(n):
    return sum(k for k in range(n) if is_prime(k))


class Body:
    def __init__(self, x=0, y=0, vx=0, vy=0, mass=0):
        self.x, self.y, self.vx, self.vy, self.mass = x, y, vx, vy, mass

    def attract(self, other, dt):
        dx, dy = other.x - self.x, other.y - self.y
        r = dx*dx + dy*dy
        w = dt*other.mass/(r*r**0.5)
        self.vx += w*dx
        self.vy += w*dy

    def move(self, dt):
        self.x += dt*self.vx
        self.y += dt*self.vy


@script(100000, 100, lambda n: [d(1), d(1)])
def orbit(n):
    sun, planet = Body(mass=1), Body(x=1, vy=1, mass=0.001)
    for k in range(n):
        planet.attract(sun, 0.001)
        sun.attract(planet, 0.001)
        planet.move(0.001)
        sun.move(0.001)
    return planet.x, planet.y


def adder(k):
    return lambda x: x + k


@script(200000, 100, None)
def closures(n):
    def compose(f, g):
        return lambda x: f(g(x))
    y = 0
    for k in range(1, n+1):
        h = compose(adder(k), lambda x: 0.5*x)
        y = h(y)
    return y


@script(200000, 100, lambda n: [d(1), d(1)])
def texts(n):
    total = found = 0
    for k in range(1, n+1):
        s = "item " + str(k)
        total += len(s)
        if s.find("77") >= 0:
            found += 1
    return total, found
