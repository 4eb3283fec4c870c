"""The called functions, and loops in Python."""
import time


def f(x, y):
    return x


class C:
    def m(self, x):
        return x

    def k(self, *, key):
        return key


def loop(g, n, *args):
    """ns per call of g, without the loop itself."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for i in range(int(n)):
            pass
        middle = time.perf_counter()
        for i in range(int(n)):
            g(*args)
        best = min(best, (time.perf_counter() - middle) - (middle - start))
    return best / n * 1e9


def lupa():
    import lupa, math
    run = lupa.LuaRuntime().eval("function(f, n) local t = os.clock();"
                             " for i=1,n do local y = f(i, 2.0) end; return (os.clock()-t)/n*1e9 end")
    print("C function, two scalars|%.1f" % run(math.copysign, 500000))
    print("def f(x, y)|%.1f" % run(f, 500000))
    print("Python to function, no argument|%.1f" % loop(lupa.LuaRuntime().eval("function() return 1 end"), 500000))


if __name__ == "__main__":
    lupa()
