"""The table of programs with their peers in Python and C, served to the runner (../peers/worker.py has the protocol).

    peers.py C|Clang|NumPy|Numba|JAX|CPython LIBRARY_FOLDER

A module of this folder has one group.  A decorator enters a function under its name with sizes, inputs and outputs:

    @numba(SIZE, TINY, inputs, outputs)     loops, compiled by Numba unless BENCH_PLAIN_PYTHON is set
    @arrays(SIZE, TINY, inputs, outputs)    the first parameter is numpy, or jax.numpy, or a stand-in for them
    @script(SIZE, TINY, outputs)            run by CPython, beside LuaJIT

`inputs` makes the arguments from the size, `outputs` the arrays that the C function of this name fills, which gets the
size, the inputs and the outputs; None: there is none in C.  `tolerance` is the largest difference over the largest
value; with `mean`, where a last digit decides about a further iteration, the mean difference over the mean.
peer("JAX")(f) makes f the peer of a different type of the program with its name."""
import ctypes, functools, importlib, os, sys
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
GROUPS = ("polybench", "expressions", "scalars", "images", "scripts")
PROGRAMS = {}
f32, i32 = np.float32, np.int32


class Program:
    def __init__(self, group, name, size, tiny, inputs, outputs):
        self.group, self.name, self.size, self.tiny, self.inputs = group, name, size, tiny, inputs
        self.outputs, self.peers, self.tolerance, self.mean = outputs, {}, 1e-4, False
        if outputs:
            self.peers = {"C": None, "Clang": None}


def enter(kind):
    def table(size, tiny, inputs, outputs, tolerance=1e-4, mean=False):
        def decorate(f):
            p = PROGRAMS[f.__name__] = Program(f.__module__, f.__name__, size, tiny, inputs, outputs)
            p.tolerance, p.mean = tolerance, mean
            return peer(kind)(f)
        return decorate
    return table


def peer(*kinds):
    """The function is the peer of these kinds of the program with its name."""
    def decorate(f):
        for kind in kinds:
            PROGRAMS[f.__name__].peers[kind] = f
        return f
    return decorate


numba, arrays = enter("Numba"), enter("NumPy")


def script(size, tiny, outputs, tolerance=1e-6):
    return enter("CPython")(size, tiny, lambda n: (n,), outputs, tolerance)


# -- inputs and outputs, as inputs.q has them ------------------------------------------------------------------------
def pattern(n, a, m=1021):
    return (np.arange(n, dtype=np.int64) * a % m * a % m).astype(f32) / f32(m)


def field(n, m, a=37):
    return pattern(n * m, a).reshape(n, m)


def integers(n, m, a=37):
    return np.floor(m * pattern(n, a)).astype(i32)


def f(*shape):
    return np.empty(shape, f32)


def i(*shape):
    return np.empty(shape, i32)


def d(*shape):
    return np.empty(shape)


# -- kinds: each makes a function of the inputs ------------------------------------------------------------------------
def of_c(program, size, library):
    """Calls the C function with the addresses of arrays; numbers are passed as double or int."""
    function, outputs = getattr(library, program.name), program.outputs(size)
    function.restype = None

    def pass_on(x):
        if isinstance(x, np.ndarray):
            return ctypes.c_void_p(x.ctypes.data)
        return ctypes.c_double(x) if isinstance(x, float) else ctypes.c_int(x)
    passed = {}

    def call(*inputs):
        if not passed:
            passed["all"] = [pass_on(x) for x in (size, *inputs, *outputs)]
        function(*passed["all"])
        return outputs
    return call


class InNumPy:
    """NumPy, with the two operations that JAX writes otherwise."""
    def __getattr__(self, name):
        return getattr(np, name)

    @staticmethod
    def put(x, where, value):
        x[where] = value
        return x

    @staticmethod
    def repeat_step(n, step, state):
        for k in range(n):
            state = step(state)
        return state


class InJAX:
    def __getattr__(self, name):
        import jax.numpy
        return getattr(jax.numpy, name)

    @staticmethod
    def put(x, where, value):
        return x.at[where].set(value)

    @staticmethod
    def repeat_step(n, step, state):
        import jax
        return jax.lax.fori_loop(0, n, lambda k, s: step(s), state)


def in_jax(function):
    import jax
    compiled = jax.jit(functools.partial(function, InJAX()))
    return lambda *inputs: jax.block_until_ready(compiled(*inputs))


def in_numba(function):
    if os.environ.get("BENCH_PLAIN_PYTHON"):
        return function
    import numba as nb
    from numba.extending import is_jitted
    for name, g in function.__globals__.items():  # functions that it calls
        if callable(g) and getattr(g, "__module__", "") == function.__module__ and name in function.__code__.co_names:
            if not is_jitted(g) and not isinstance(g, type):
                function.__globals__[name] = in_numba(g)
    return nb.njit(fastmath=True, cache=True)(function)


def make(kind, name, size, library):
    """(run, result), as worker.py wants them."""
    program = PROGRAMS[name]
    if kind not in program.peers:
        return None
    inputs = program.inputs(size)
    if kind in ("C", "Clang"):
        function = of_c(program, size, library(program.group))
    else:
        wrap = {"NumPy": lambda g: functools.partial(g, InNumPy()), "JAX": in_jax, "Numba": in_numba,
                "CPython": lambda g: g}
        function = wrap[kind](program.peers[kind])
    last = []

    def run():
        last[:] = [function(*inputs)]

    def result():
        one = last[0]
        return flat(one if isinstance(one, (tuple, list)) else [one])
    return run, result


def flat(results):
    return np.concatenate([np.asarray(r, np.float64).ravel() for r in results])


class Peer:
    """The interface for worker.serve: the cases by NAME:SIZE."""

    def __init__(self, kind, folder):
        self.NAME, self.CASES = kind, self
        self.library = functools.cache(lambda group: ctypes.CDLL(os.path.join(folder, f"{kind}_{group}.so")))

    def get(self, case):
        name, size = case.split(":")
        if self.NAME not in PROGRAMS[name].peers:
            return None
        return lambda: make(self.NAME, name, int(size), self.library)


def load():
    for group in GROUPS:
        importlib.import_module(group)
    return PROGRAMS


if __name__ == "__main__":
    sys.modules["peers"] = sys.modules["__main__"]
    sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "peers")]
    import worker
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries greet on the standard output
    load()

    def say(text):
        out.write(text + "\n")
        out.flush()
    worker.serve(Peer(sys.argv[1], sys.argv[2]), say)
