"""Functions that the scripts of this folder call."""
import enum, threading


def call(f, *args, **names):
    return f(*args, **names)


def ident(x):
    return x


def echo(*args):
    return args


def kinds(*args, **names):
    return " ".join(type(x).__name__ for x in args + tuple(names.values()))


def fail(x):
    raise KeyError("no %s" % x)


def only_whole(n):
    if not isinstance(n, int):
        raise ValueError("n must be a positive integer, not %s" % n)
    return n


def outcome(f):
    try:
        return "gave %r" % (f(),)
    except Exception as e:
        bases = [t.__name__ for t in (IndexError, TypeError, ValueError, MemoryError) if isinstance(e, t)]
        return "%s (%s): %s" % (type(e).__name__, " ".join(bases), e)


def in_threads(f, n):
    results = []
    threads = [threading.Thread(target=lambda i=i: results.append(f(i))) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return sorted(results)


def numbers(n):
    for i in range(n):
        yield i
    if n > 3:
        raise ValueError("no more than 3")


class Scope:
    def __enter__(self):
        print("entered")
        return "inside"

    def __exit__(self, *what):
        print("left", what)


class NoTruth:
    def __bool__(self):
        raise ValueError("neither true nor false")


class Asked:
    """An attribute that looks for another one and does not find it."""

    @property
    def value(self):
        return self.missing


class Colour(enum.IntEnum):
    RED = 1

    __str__ = int.__repr__  # as from Python 3.11 on


class Slots:
    pass


def each(x):
    for i in (x, x):
        yield i


def memory():
    """Resident memory now, in kB."""
    import gc, resource
    gc.collect()
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize() // 1024


class Traced:
    """Counts how many of it there are."""
    alive = 0

    def __init__(self):
        Traced.alive += 1

    def __del__(self):
        Traced.alive -= 1


def traced():
    return Traced.alive


class Last(Traced):
    """Calls a script function when it is collected."""
    calls = []

    def __init__(self, f):
        super().__init__()
        self.f = f

    def __del__(self):
        super().__del__()
        Last.calls.append(self.f())


def last():
    return len(Last.calls)
