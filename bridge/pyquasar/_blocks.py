"""Kernels and functions on blocks of larger arrays: how far a kernel reads, and a function of one block."""
import inspect


def _q():
    import pyquasar
    return pyquasar


def _arguments(kernel, args, named):
    """As halo of the language takes them: in the order of the parameters, None for what is not said."""
    names = list(inspect.signature(kernel).parameters)
    for wrong in (n for n in named if n not in names):
        raise TypeError("%s has no parameter %s; there are %s" % (kernel.__name__, wrong, ", ".join(names)))
    if len(args) > len(names) or any(n in named for n in names[:len(args)]):
        raise TypeError("%s takes %d arguments, each of them once" % (kernel.__name__, len(names)))
    return list(args) + [named.get(n) for n in names[len(args):]]


def _is_kernel(f):
    return getattr(f, "_is_kernel", False)


def halo(kernel, *args, **named):
    """How far a kernel reads around its own position, along each dimension: what a block of a larger array needs of its
    neighbours.  Arguments are those of parallel_do, by place or by name; only those are wanted on which the answer
    depends: halo(q.blur, r=2)."""
    if not _is_kernel(kernel):
        raise TypeError("halo: a kernel is wanted, got %r; what a function reads around a position has to be said by "
                        "who knows it" % (kernel,))
    reach = _q()._bridge._built_in("halo")(kernel, *_arguments(kernel, args, named))
    return tuple(int(n) for n in reach)
