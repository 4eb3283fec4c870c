"""Makes functions and kernels operators of torch, with derivatives.

    op(x) ──► autograd.Function ──► a custom operator ──► the function, on the memory of the tensors
               │ backward, jvp          used by torch.compile and opcheck
               ├──► the record of the function's run, if no higher derivative is taken
               └──► the operator of the derived function (_operator.py), to any order

torch's custom operators work with torch.compile, but not with torch.func; autograd.Function works with torch.func, but
torch.compile must not trace into it.  So one is wrapped around the other, and each call uses the one that its caller
supports.  A record is passed from the function to the autograd.Function separately, because the operator passes only
tensors.  Within torch.func, where calls nest differently, no record is used."""
import inspect, itertools, re, threading, weakref

from . import _grad
from ._operator import (Function, all_arguments, found_by_running, number_of_results, of_script, results_of,
                        type_of_numbers)

_number = itertools.count(1)


def _torch():
    import torch
    return torch


def _tensor_of(r, args):
    """Returns a result as a tensor that shares no memory with the arguments.  A number becomes a tensor without
    dimensions."""
    torch = _torch()
    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    if isinstance(r, (bool, int, float, complex)):
        t = torch.tensor(r, dtype=_complex_if(isinstance(r, complex), _type_of_numbers(tensors)))
    else:
        t = r.to_torch(requires_grad=False, copy=r.readonly or None) if hasattr(r, "_kind") else r
        memory = t.untyped_storage().data_ptr()
        t = t.clone() if any(a.untyped_storage().data_ptr() == memory for a in tensors) else t
    return t.to(tensors[0].device) if tensors else t


def _is_smooth(x):
    return x.is_floating_point() or x.is_complex()


def _type_of_numbers(tensors):
    torch = _torch()
    return type_of_numbers(tensors, _is_smooth, torch.promote_types, torch.get_default_dtype(), torch.float64)


def _complex_if(yes, kind):
    return _torch().promote_types(kind, _torch().complex64) if yes else kind


def _fit(t, like):
    """Reshapes t to the shape of `like` if they differ only in extents of 1."""
    if t.shape == like.shape and t.dtype == like.dtype:
        return t
    same = [n for n in t.shape if n != 1] == [n for n in like.shape if n != 1]
    return t.reshape(like.shape).to(like.dtype) if same else t


class Passing(threading.local):
    wanted = False  # indices of arguments for which the next run makes a record
    kept = None     # the record: the pullback, and whether that takes a tuple


def _in_torch_func(torch):
    level = getattr(torch._C._functorch, "maybe_current_level", None)
    return level is None or level() is not None


def _is_watched(torch):
    """Whether the call is being traced into another program (make_fx), where a record would be a constant."""
    return torch._C._len_torch_dispatch_stack() > 0


def _is_batched(x):
    """Whether x holds several adjoints, from vmap or is_grads_batched; torch splits these for operators, but not for a
    record."""
    functorch = _torch()._C._functorch
    return functorch.is_batchedtensor(x) or functorch.is_legacy_batchedtensor(x)


def _is_differentiated(x):
    torch = _torch()
    if x.requires_grad and torch.is_grad_enabled():
        return True
    if torch.compiler.is_compiling():  # which cannot trace the code below
        return False
    return torch._C._functorch.is_gradtrackingtensor(x) or torch.autograd.forward_ad.unpack_dual(x).tangent is not None


class Operator:
    """The operator of one function: `custom` for torch.compile, `apply` for everything else.  Calling it selects one.

    imagine   function of the arguments that returns empty tensors like the results; None: found by a run, for each
              combination of shapes
    backward  function of torch that computes the gradients; None: they are derived
    adjoints_of  indices of the arguments whose adjoints, or tangents of adjoints, the results are: they get their
    shapes"""

    def __init__(self, function, results, name, imagine=None, backward=None, adjoints_of=None):
        self.function, self.results, self.name, self.adjoints_of = function, results, name, adjoints_of
        self.imagined, self.backward = {}, backward
        self.own_shape = imagine
        self.derived = {}
        self.tensors = function.tensors()
        self.passing = Passing()
        torch = _torch()
        schema = ", ".join("%s %s" % parameter for parameter in function.parameters)
        gives = "Tensor" if results == 1 else "(%s)" % ", ".join(["Tensor"]*results)
        self.custom = torch.library.custom_op(name, self.run, mutates_args=(), schema="(%s) -> %s" % (schema, gives))
        self.custom.register_fake(self.imagine)
        self.custom.register_autograd(self.derive, setup_context=self.keep)
        self.opaque = self.custom._opoverload
        self.apply = _function_of(torch, self).apply
        self.traced = _traced(torch, self)

    def __call__(self, *args):
        torch = _torch()
        self.check(args)
        if torch.compiler.is_compiling():
            return self.traced(*args)
        if self.backward is None and torch.is_grad_enabled() and not _in_torch_func(torch) and not _is_watched(torch):
            # determined here, because run() gets a copy of a lazy conjugate
            self.passing.wanted = tuple(k for k in self.tensors if args[k].requires_grad)
        try:
            return self.apply(*args)
        finally:
            self.passing.wanted, self.passing.kept = (), None

    def check(self, args):
        """Rejects tensors with a derivative for number parameters, because torch converts them to numbers and loses the
        derivative."""
        for (kind, name), x in zip(self.function.parameters, args):  # by name: torch.compile makes ints symbolic
            if kind != "Tensor" and isinstance(x, _torch().Tensor) and _is_differentiated(x):
                raise TypeError("%s: argument %s is a tensor of which derivatives are taken, but the parameter is "
                                "declared as a number, which has none in torch; leave its type away, or give %s(%s)"
                                % (self.function.name, name, kind, name))

    # -- computation ---------------------------------------------------------------------------------------------------
    def run(self, *args):
        torch = _torch()
        with torch.no_grad():
            chosen, self.passing.wanted = self.passing.wanted, ()
            given = self.plain(args)
            lent = tuple(map(self.lent, given))
            r = results_of(self.recorded(lent, chosen) if chosen else self.function(*lent))
            if len(r) != self.results:
                raise TypeError("%s gives %d results, got %d" % (self.function.name, self.results, len(r)))
            r = tuple(_tensor_of(x, given) for x in r)
            if chosen:  # the record may share memory with a result
                r = tuple(t.clone() for t in r)
            if self.adjoints_of:
                r = tuple(_fit(t, args[k]) for k, t in zip(self.adjoints_of, r))
        return r if self.results > 1 else r[0]

    @staticmethod
    def plain(args):
        torch = _torch()
        return [a.detach().resolve_conj().resolve_neg() if isinstance(a, torch.Tensor) else a for a in args]

    def lent(self, x):
        """Wraps a tensor as a read-only array, because the operator declares that it modifies nothing."""
        return _grad._q()._bridge._lent(x) if self.function.of_values and isinstance(x, _torch().Tensor) else x

    def recorded(self, given, chosen):
        y, pullback = _grad.recorded(self.function.f, given, chosen)
        self.passing.kept = pullback, isinstance(y, tuple)
        return y

    def imagine(self, *args):
        torch = _torch()
        if self.own_shape is not None:
            return self.own_shape(*args)
        key = tuple((tuple(map(int, a.shape)), a.dtype) if isinstance(a, torch.Tensor) else a for a in args)
        if key not in self.imagined:
            from torch._subclasses.fake_tensor import unset_fake_temporarily
            self.passing.wanted = ()
            with unset_fake_temporarily():
                r = found_by_running(lambda args: self.run(*args), torch, key, self.function.name)
            self.imagined[key] = [(tuple(t.shape), t.dtype) for t in results_of(r)]
        r = tuple(self.like(args, shape, dtype) for shape, dtype in self.imagined[key])
        return r if self.results > 1 else r[0]

    @staticmethod
    def like(args, shape, dtype):
        """Returns an empty tensor.  Takes the shape from an argument with the same shape, for which torch.compile may
        have symbolic extents."""
        torch = _torch()
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        same = next((t for t in tensors if tuple(map(int, t.shape)) == shape), None)
        return tensors[0].new_empty(shape if same is None else same.shape, dtype=dtype)

    # -- derivatives ---------------------------------------------------------------------------------------------------
    def keep(self, ctx, inputs, output):
        holder = _torch().empty(0)  # so that the record is freed with the saved tensors, also under checkpoints
        holder.record, self.passing.kept = self.passing.kept, None
        ctx.save_for_backward(*(inputs[k] for k in self.tensors), holder)
        ctx.numbers = [None if k in self.tensors else x for k, x in enumerate(inputs)]
        ctx.wanted = tuple(k for k in self.tensors if _is_smooth(inputs[k]))

    def arguments(self, ctx, tensors):
        args = list(ctx.numbers)
        for k, t in zip(self.tensors, tensors):
            args[k] = t
        return args

    def derive(self, ctx, *adjoints):
        *tensors, holder = ctx.saved_tensors  # read once, because a checkpoint allows only that
        args, record = self.arguments(ctx, tensors), getattr(holder, "record", None)
        which = tuple(k for k in ctx.wanted if ctx.needs_input_grad[k])
        if not which:
            dx = ()
        elif record and not _torch().is_grad_enabled() and not any(map(_is_batched, adjoints)):
            dx = self.pulled(*record, which, args, adjoints)
        else:
            dx = results_of(self.reverse(which)(*args, *adjoints))
        found = dict(zip(which, dx))
        return tuple(found.get(k) for k in range(len(args)))

    def pulled(self, pullback, several, which, args, adjoints):
        """Uses the record of the forward pass; torch has checked that the arguments are unchanged."""
        torch = _torch()
        dy = self.plain(adjoints)
        dx = pullback(tuple(dy) if several else dy[0])
        return tuple(torch.zeros_like(args[k]) if dx[k] is None else _fit(_tensor_of(dx[k], dy), args[k])
                     for k in which)

    def reverse(self, which):
        """Returns the operator of the arguments and of an adjoint of each result; created when first used."""
        if ("reverse", which) not in self.derived:
            f = self.function.reverse(which, self.results) if self.backward is None else self.by_hand(which)
            name = "%s_backward%s" % (self.name, "".join("_%d" % k for k in which))

            def shapes(*args):
                alike = tuple(_torch().empty_like(args[k]) for k in which)
                return alike if len(alike) > 1 else alike[0]
            self.derived["reverse", which] = Operator(f, len(which), name, shapes, adjoints_of=which)
        return self.derived["reverse", which]

    def by_hand(self, which):
        backward, n, name = self.backward, len(self.function.parameters), self.name

        def gradients(*given):
            args, adjoints = given[:n], given[n:]
            r = backward(*adjoints, *args)
            r = r if isinstance(r, tuple) else (r,)
            if len(r) != n:
                raise TypeError("%s_backward: %d gradients are wanted, one for each argument, got %d" %
                                (name, n, len(r)))
            return tuple(_torch().zeros_like(args[k]) if r[k] is None else r[k] for k in which)
        more = [("Tensor", "d%d_%d" % (len(self.function.parameters), i)) for i in range(self.results)]
        f = Function(gradients, self.function.parameters + more, self.function.name + "_backward")
        f.of_values = False
        return f

    def forward(self, which):
        if ("forward", which) not in self.derived:
            name = "%s_forward%s" % (self.name, "".join("_%d" % k for k in which))
            f, n = self.function.forward(which), len(self.function.parameters)
            shapes = lambda *args: self.imagine(*args[:n])
            self.derived["forward", which] = Operator(f, self.results, name, shapes, adjoints_of=self.adjoints_of)
        return self.derived["forward", which]

    def along(self, ctx, tangents):
        args = self.arguments(ctx, ctx.saved_tensors)  # saved for forward mode, without a record
        which = tuple(k for k in ctx.wanted if tangents[k] is not None)
        return self.forward(which)(*args, *(tangents[k] for k in which))

    # -- vmap: one after the other -------------------------------------------------------------------------------------
    def each(self, info, dims, args):
        torch = _torch()

        def one(x, d, i):
            if d is None or info.batch_size:
                return x if d is None else x.select(d, i)
            return x.new_ones(x.shape[:d] + x.shape[d + 1:])  # empty batch: determines the form of results
        rows = [results_of(self(*(one(x, d, i) for x, d in zip(args, dims)))) for i in range(info.batch_size or 1)]
        r = tuple(torch.stack(column)[:info.batch_size] for column in zip(*rows))
        return (r, (0,)*len(r)) if self.results > 1 else (r[0], 0)


def _traced(torch, op):
    """Returns the operator for torch.compile.  Dynamo calls it with the transforms of torch.func that it traces, which
    the operator itself does not see: its derivative would be 0."""
    def traced(*args):
        inside = torch._C._functorch.peek_interpreter_stack() is not None or any(
            isinstance(x, torch.Tensor) and torch._VF._unpack_dual(x, level=0)[1] is not None for x in args)
        return op.apply(*args) if inside else op.opaque(*args)
    return torch._dynamo.allow_in_graph(traced)


def _function_of(torch, op):
    class function(torch.autograd.Function):
        @staticmethod
        def forward(*args):
            with torch._C._AutoDispatchBelowAutograd():  # this class replaces the operator's own autograd
                return op.opaque(*args)

        @staticmethod
        def setup_context(ctx, inputs, output):
            op.keep(ctx, inputs, output)
            ctx.save_for_forward(*(inputs[k] for k in op.tensors))

        @staticmethod
        def backward(ctx, *adjoints):
            return op.derive(ctx, *adjoints)

        @staticmethod
        def jvp(ctx, *tangents):
            return op.along(ctx, tangents)

        @staticmethod
        def vmap(info, dims, *args):
            return op.each(info, dims, args)
    function.__name__ = op.function.name
    function.forward.__signature__ = inspect.signature(function.forward)  # cached, because torch reads it at each call
    return function


def torch_op(function, backward=None, shape=None, name=None, dims=None, out=None, results=None):
    """Returns a torch operator that calls a script function, a kernel, or a Python function that computes with values.
    It is differentiable, to any order, and works in torch.compile, torch.func and vmap.

    backward  backward(grad, *arguments) returns the gradient of each argument, None if there is none; by default,
              gradients are derived
    shape     shape(*arguments) returns an empty tensor like the result, or a tuple for several results; by default the
              function runs once on ones, or on uneven numbers if that fails, for each combination of shapes in
              torch.compile
    name      "namespace::name" of the operator, which must be unused; default quasar::NAME_NUMBER
    dims, out for a kernel: the grid, and the names of the parameters that it writes, {"y": shape} if the shape differs
              from that of the first tensor; the operator takes the other parameters and returns these
    results   number of results of a Python function; default 1

    Arguments are tensors or numbers; only numbers if the parameter is declared scalar, int or bool."""
    f, parameters = of_script(function, dims, out)
    results = number_of_results(function, out, results)
    again = function, backward, shape, name, dims, out, results
    if name is None:
        name = "quasar::%s_%d" % (re.sub(r"\W", "_", f.name), next(_number))
    if not isinstance(name, str) or not re.fullmatch(r"\w+::\w+", name):
        raise TypeError('torch_op: name must be as "namespace::name", got %r' % (name,))
    for what, given in ("backward", backward), ("shape", shape):
        if given is not None and not callable(given):
            raise TypeError("torch_op: %s must be a function, got %r" % (what, given))
    op = Operator(f, results, name, shape, backward)
    made = _callable(op, again, parameters)
    if again[3]:
        _named[name] = made
    return made


_named = weakref.WeakValueDictionary()  # operators with user-defined names, which are unique in a process


def _again(*made_of):
    """Unpickles an operator: returns the existing one with its name, or creates one."""
    return _named.get(made_of[3]) or torch_op(*made_of)


def _callable(op, again, declared):
    """Returns the custom operator itself, so that opcheck accepts it; a call uses the Operator.  Fills in default
    arguments, and converts numbers for tensor parameters to tensors without dimensions that hold them exactly."""
    torch = _torch()
    exact = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
    parameters = op.function.parameters

    def taken(kind, name, x):
        if kind != "Tensor" or isinstance(x, torch.Tensor):
            return x
        own = next((t for t in exact if isinstance(x, t)), None)
        if own is None:
            raise TypeError("%s: argument %s must be a tensor or a number, got %s; torch.from_numpy(x) makes a tensor "
                            "of an array, torch.tensor(x) of a list" % (op.function.name, name, type(x).__name__))
        return torch.tensor(x, dtype=exact[own])

    def fitted(y, full):
        """Prevents a Python number, which is exact, from widening a scalar result computed from tensors."""
        tensors = [x for x in full if isinstance(x, torch.Tensor)]
        if not any(map(_is_smooth, tensors)):
            return y
        kind = _type_of_numbers(tensors)
        r = tuple(t if t.ndim or not _is_smooth(t) else t.to(_complex_if(t.is_complex(), kind)) for t in results_of(y))
        return r if isinstance(y, tuple) else r[0]

    class operator(type(op.custom)):
        def __call__(self, *args, **names):
            full = all_arguments(op.function.name, declared, args, names)
            y = op(*(taken(kind, name, x) for (kind, name), x in zip(parameters, full)))
            return fitted(y, full) if any(k[0] == "Tensor" and isinstance(x, (float, complex))
                                          for k, x in zip(parameters, full)) else y

        def __reduce__(self):
            return _again, again
    op.custom.__class__ = operator
    return op.custom
