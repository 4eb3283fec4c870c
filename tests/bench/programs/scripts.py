"""Scripts of numbers, for CPython; LuaJIT runs scripts.lua."""
from peers import script, d


@script(27, 10, lambda n: [d(1)])
def fib(n):
    return n if n < 2 else fib(n-1) + fib(n-2)
