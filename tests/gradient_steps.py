"""Steps of the random programs of gradients.py that use what of the language its own kernels and loops do not: short
vectors, fields of them, complex numbers, shared memory, updates that meet, indices from data, cells, objects, closures,
recursion, rules of one's own, reductions along dimensions, derivatives of derivatives.

A step is a method of Steps; it gives the functions and kernels that it needs, and the lines that change the vectors a
and b, of self.n elements, and the number s.  What it leaves is bounded."""


def steps(smallest):
    """All that programs with vectors of so many elements may have."""
    return [name for name, f in vars(Steps).items() if getattr(f, "least", 99) <= smallest]


def of_at_least(n):
    def mark(f):
        f.least = n
        return f
    return mark


class Steps:
    # -- kernels ------------------------------------------------------------------------------------------------------
    def launch(self, body, read="a", write="b", params="", args="", size=None, x="vec{m}", y="vec'unchecked"):
        """A kernel of its own over x and y, and its launch; in body {n} is the size, {m} an access mode."""
        r, name = self.r, self.fresh("kernel")
        mode = r.choice(["'mirror", "'reflect", "'clamped", "'circular", "'safe", ""])
        size = size or str(self.n)
        how = "serial_do" if "serial" in body else r.choice(["parallel_do"]*4 + ["serial_do"])
        pos = "ivec2" if x.startswith("mat") else "int"
        text = f"function [] = __kernel__ {name}(x : {x}, y : {y}, s : scalar{params}, pos : {pos})\n{body}\nend\n"
        return text.replace("{n}", str(self.n)).replace("{m}", mode), \
            f"    {how}({size}, {read}, {write}, s{args}, {name})"

    def both(self):
        return self.r.choice([("a", "b"), ("b", "a")])

    @of_at_least(1)
    def convergence(self):
        src, dst = self.both()
        loop = self.r.choice(["while abs(q*q - c) > 1e-13\n  q = 0.5*(q + c/q)\n end",
                              "repeat\n  before = q\n  q = 0.5*(q + c/q)\n until abs(q - before) < 1e-12",
                              "for k = 0..99\n  if abs(q*q - c) < 1e-13\n   break\n  end\n  q = 0.5*(q + c/q)\n end"])
        text, run = self.launch(f" c = 2 + tanh({self.expr(['x[pos]', 'x[pos+1]', 's'])})\n q = c\n {loop}\n"
                                " y[pos] = q - 1", src, dst)
        return [text], [run]

    @of_at_least(1)
    def short_vectors(self):
        r, (src, dst) = self.r, self.both()
        e = lambda: self.expr(["x[pos]", "x[pos-1]", "v[0]", "v[2]", "s"], 2)
        step = lambda: r.choice([f"v = v.*[{e()},0.3,{e()}]", f"v[mod(pos,3)] = {e()}", "v = v[[2,0,1]] + 0.1",
                                 "v = v/(1 + dotprod(v,v))", "v = tanh(v)*norm(v + 9)", "v[0..1] = v[1..2]*0.7",
                                 "for k = 0..2\n  v[k] = tanh(v[k] + v[mod(k+1,3)])\n end",
                                 "v = transpose([[v[0],0.2,s],[0,v[1],0.1],[s,0,v[2]]]*transpose(v))",
                                 "w = v\n w[1] *= 0.5\n v = w - 0.1*v",
                                 f"for k = 0..mod(pos,3)\n  v[k] += {e()}\n  if v[0] > 99\n   break\n  end\n end"])
        text, run = self.launch(f" v = [x[pos],{e().replace('v[', 'x[')},s]\n " +
                                "\n ".join(step() for _ in range(r.randint(1, 4))) +
                                "\n y[pos] = tanh(" + r.choice(["sum(v)", "max(v)", "prod(v)", "v[mod(pos,3)]"]) + ")",
                                src, dst)
        return [text], [run]

    @of_at_least(2)
    def fields_of_vectors(self):
        r = self.r
        write = r.choice(["y[pos] = tanh(u.*x[pos] + 0.2)", "y[pos][0] = tanh(u[1])\n y[pos][1] = sin(u[0]*s)",
                          "y[pos] += 0.3*tanh(u)", "y[mod(pos*2,{n})][1] += 0.3*tanh(u[0])",
                          "y[pos][mod(pos,2)] = tanh(sum(u))"])
        text, run = self.launch(f" u = x[{r.choice(['pos', 'pos-1', 'pos+1', 'mod(3*pos,{n})'])}]*s\n {write}", "c",
                                "d", x="vec[vec2]{m}", y="vec[vec2]")
        return [text], ["    c = transpose(vertcat(a, b))", f"    d = {r.choice(['0.5*c', 'zeros(%d,2)' % self.n])}",
                        run, "    a = transpose(d[:,0])", "    b = transpose(d[:,1])"]

    @of_at_least(1)
    def complex_kernel(self):
        r = self.r
        e = r.choice(["u*conj(v)*0.4", "sin(u)", "u/(3 + 0.1*v)", "exp(-u*conj(u))*v", "complex(real(u), abs(v + 4))",
                      "sqrt(u + 5)", "(u + v)^2*0.2", "u*s + imag(v)", "log(u + 4)*v"])
        text, run = self.launch(f" u = x[pos]\n v = x[{r.choice(['pos-1', 'pos+2', 'mod(2*pos,{n})'])}]\n u = {e}\n"
                                f" {r.choice(['y[pos] = u', 'y[pos] += 0.5*u', 'y[mod(2*pos,{n})] += 0.4*u'])}",
                                "z", "w", x="cvec{m}", y="cvec'unchecked")
        return [text], [f"    z = complex(a, {r.choice(['b', 's*a', '0.3*b'])})", "    w = 0.4*z", run,
                        "    a = tanh(real(w))", "    b = tanh(imag(w) + 0.1*b)"]

    @of_at_least(1)
    def complex_arrays(self):
        e = lambda d: self.r.choice(["z", "conj(z)", "2+1i"]) if d == 0 else self.r.choice(
            ["({0} + {1})", "(0.5*({0}.*{1}))", "sin({0})", "exp(0.3*{0})", "{0}./(4 + abs({1}))", "abs({0})",
             "conj({0})",
             "angle({0} + 20)"]).format(e(d - 1), e(d - 1))
        return [], ["    z = complex(tanh(a), 0.5*tanh(b))", f"    z = {e(2)} + 0*z", "    a = tanh(real(z))",
                    "    s = tanh(sum(imag(z)) + s)"]

    @of_at_least(1)
    def blocks(self):
        r, (src, dst) = self.r, self.both()
        n, block = self.n, r.choice([2, 4, 8])
        use = r.choice(["part[mod(blkpos+1,blkdim)]*t", "part[blkpos] + part[blkdim-1-blkpos]",
                        "part[0]*part[blkdim-1]"])
        tree = ("step = int(blkdim/2)\n while step > 0\n  if blkpos < step\n   part[blkpos] {0}\n  end\n  syncthreads\n"
                "  step = int(step/2)\n end\n ").format(
                    r.choice(["+= part[blkpos+step]", "= max(part[blkpos], part[blkpos+step])",
                              "*= part[blkpos+step] + 0.5"]))
        body = (" part = shared_zeros(blkdim)\n t = 0.3\n if pos < {n}\n  t = x[pos]\n  part[blkpos] = " +
                self.expr(["t", "s", "x[pos-1]"], 2) + "\n end\n syncthreads\n " + r.choice([tree, "", "", ]) +
                f"u = {use}\n if pos < {{n}}\n  y[pos] = tanh(u)\n end")
        text, run = self.launch(body, src, dst, ", blkpos : int, blkdim : int", "",
                                f"[[{-(-n//block)*block}],[{block}]]")
        return [text], [run.replace("serial_do", "parallel_do")]

    @of_at_least(1)
    def updates(self):
        r, (src, dst) = self.r, self.both()
        e = self.expr(["x[pos]", "x[pos+1]", "s"], 2)
        how = r.choice([f"+= 0.2*tanh({e})", f"-= 0.2*tanh({e})", f"^^= tanh({e})", f"__= tanh({e})",
                        f"*= 1 + 0.3*tanh({e})", f"/= 2 + tanh({e})"])
        at = r.choice(["mod(pos,2)", "i[pos]", "i[mod(pos+1,{n})]", "0", "j[i[pos]]"]) if self.n > 1 else "0"
        write = f"y[{at}] {how}"
        body = r.choice([f" {write}", f" for k = 0..mod(pos,3)\n  {write}\n end",
                         f" if mod(pos,2) == 0\n  {write}\n end", f" if x[pos] > 0.4\n  {write}\n end"])
        ints = lambda: "int([%s])" % ",".join(str(r.randrange(self.n)) for _ in range(self.n))
        text, run = self.launch(body, src, dst, ", i : vec[int], j : vec[int]", ", i, j")
        return [text], [f"    i = {ints()}", f"    j = {ints()}", run, f"    {dst} = tanh({dst})"]

    @of_at_least(2)
    def gathers(self):
        """Indices from data: from the order of the elements, and from their rounded values."""
        r, (src, dst) = self.r, self.both()
        at = r.choice(["i[pos]", "i[i[pos]]", "mod(int(floor(abs(5*x[pos]))),{n})",
                       "i[mod(int(floor(abs(3*x[i[pos]]))),{n})]"])
        text, run = self.launch(f" t = x[{at}]\n y[pos] = tanh({self.expr(['t', 'x[pos]', 's'], 2)})", src, dst,
                                ", i : vec[int]", ", i")
        return [text], [f"    [_, i] = sort({r.choice(['stop_gradient(a)', 'a', 'cos(7*(0..%d))' % (self.n - 1)])})",
                        "    i = int(i)", run]

    @of_at_least(1)
    def images(self):
        """Two dimensions: a window, of constant or run-time extent, with weights; transposed and mixed places."""
        r = self.r
        loops = r.choice(["for m = -1..1\n  for n = -1..2\n", "for m = -q..q\n  for n = -q..q\n",
                          "for n = 0..q\n  for m = n..q\n"])
        place = r.choice(["pos + [m,n]", "pos - [m,n]", "pos[0]+m, pos[1]-n", "pos[0], pos[1]+n", "pos[1]+m, pos[0]+n",
                          "2*pos[0]+m, pos[1]+n"])
        e = r.choice(["w[m+3]*t", "t*t", "w[n+3]*tanh(t)", "t*x[pos]", "exp(-(t - x[pos])^2)*t"])
        body = (f" sum0 = 0.0\n {loops}   t = x[{place}]\n   sum0 += 0.1*{e}\n  end\n end\n" +
                r.choice([" y[pos] = tanh(sum0)", " y[pos] = 0.5*y[pos] + tanh(sum0)",
                          " y[pos[0],pos[1]] += tanh(sum0)",
                          " if mod(pos[0]+pos[1],2) == 0\n  y[pos] = tanh(sum0)\n end"]))
        text, run = self.launch(body, "c", "d", ", w : vec, q : int",
                                f", {r.choice(['repmat(a, 1, 7)', 'horzcat(b, 1..7)'])}, {r.randint(0, 3)}",
                                f"[2,{self.n}]", x="mat{m}", y="mat'unchecked")
        return [text], ["    c = vertcat(a, b)", "    d = 0.3*c", run, "    a = d[0,:]", "    b = tanh(b + d[1,:])"]

    @of_at_least(1)
    def device_functions(self):
        name, (src, dst) = self.fresh("device"), self.both()
        e = lambda: self.expr(["p", "q"], 2)
        fn = (f"function r = __device__ {name}(p, q)\n if q > 0.3\n  r = {e()}\n  return\n end\n r = {e()}\n"
              f" for k = 0..2\n  r = tanh({self.expr(['p', 'q', 'r'], 2)})\n  if r > 0.9\n   break\n  end\n end\nend\n")
        fn = fn if self.r.random() < 0.5 else fn.replace("q > 0.3", "q == 0.31")
        text, run = self.launch(f" f = u -> {self.expr(['u', 's'], 2)}\n y[pos] = tanh({name}(x[pos], f(x[pos-1])))",
                                src, dst)
        return [fn, text], [run]

    @of_at_least(1)
    def scan(self):
        """One position after the other, each reading what the one before has written."""
        e = self.expr(["x[pos]", "y[pos-1]", "y[pos]", "s"], 2)
        text, run = self.launch(f" if pos > 0\n  y[pos] = tanh({e})\n end % serial", "a", "b", y="vec")
        return [text], [run]

    # -- loops of the program -----------------------------------------------------------------------------------------
    @of_at_least(1)
    def host_loops(self):
        r, n = self.r, self.n
        e = lambda *more: self.expr(["a[k]", "b[k]", "s", *more], 2)
        inner = r.choice([f"for j = 0..k\n            t = tanh({e('t', 'a[j]')})\n        end",
                          f"for j = k..-1..0\n            t += 0.1*{e('a[j]')}\n            if j == 1\n"
                          f"                continue\n            end\n"
                          f"            t = tanh({e('t')})\n        end",
                          f"while abs(t) > 0.3\n            t = 0.5*t + 0.01*{e()}\n            if abs(t) < 0.31\n"
                          f"                break\n            end\n"
                          "            t *= 0.9\n        end",
                          f"j = 0\n        repeat\n            j += 1\n            t = tanh({e('t')})\n"
                          f"        until j >= mod(k,3)",
                          f"v = [t,{e()},s]\n        v[1] = v[0]*v[2]\n        t = tanh(sum(v))",
                          "z = complex(t, s)\n        z = z*z/(2 + abs(z))\n        t = real(z) + imag(z)",
                          f"if t > 0.4\n            t = {e()}\n        elseif t > -0.2\n"
                          f"            t = tanh({e('t')})\n        end",
                          f"match mod(k,3) with\n        | 0 -> t = {e()}\n        | 1 -> t *= 0.5\n"
                          f"        | _ -> t = tanh(t)\n        end"])
        return [], ["    c = copy(a)", f"    for k = 0..{n - 1}", f"        t = {e()}", f"        {inner}",
                    f"        {r.choice(['c[k] = t', 'c[k] += 0.3*t', f'c[mod(2*k,{n})] = t', 'a[k] = t', 's = t'])}",
                    "    end", "    b = tanh(b + c)", "    s = tanh(s)"]

    @of_at_least(1)
    def loop_of_rows(self):
        e = self.expr(["c[i,j]", "c[i-1,j]", f"c[0,mod(j+1,{self.n})]", "s"], 2)
        return [], ["    c = vertcat(a, b, a.*b)", f"    for j = 0..{self.n - 1}", "        for i = 1..2",
                    f"            c[i,j] = tanh({e})", "        end",
                    "        p = c[:,j]" if self.r.random() < 0.3 else "        p = 0.5",
                    "        c[0,j] = 0.5*sum(p) + c[0,j]*0.2", "    end", "    a = tanh(c[0,:])", "    b = c[2,:]"]

    @of_at_least(1)
    def each_element(self):
        return [], ["    t = 0.1", "    for v = a", f"        t = tanh({self.expr(['t', 'v', 's'], 2)})", "    end",
                    "    s = t"]

    # -- typical parts of programs -------------------------------------------------------------------------------------
    @of_at_least(1)
    def recursion(self):
        name = self.fresh("again")
        e = self.expr(["t", "u"], 2)
        return [f"function t = {name}(t, u, n)\n if n > 0\n  t = {name}(tanh({e}), 0.5*t + u, n - 1)*0.9 + 0.1*t\n"
                f" end\nend\n"], \
            [f"    {self.r.choice(['s', 'a[0]', 'b[0]'])} = {name}(s, a[{self.n - 1}], {self.r.randint(0, 5)})"]

    @of_at_least(1)
    def closures(self):
        r = self.r
        return [], [f"    g = u -> tanh(u.*{r.choice(['s', 'a', 'b', '0.4'])} + {self.arrays(1)})",
                    f"    h = (f, u) -> f(f(u)) - 0.1*u", "    a = tanh(0.7*a)",
                    f"    {r.choice('ab')} = {r.choice(['g(a)', 'h(g, b)', 'h(u -> g(u) + s, a)'])}"]

    @of_at_least(1)
    def containers(self):
        r = self.r
        cell = ["    l = {a, s, {b, 0.5}}", "    l[0] = l[0].*l[2][0]", "    l[2][1] += l[1]", "    m = {l, l[0]}",
                "    b = tanh(m[0][0] + m[0][2][1])", "    s = 0.4*m[0][1]"]
        obj = ["    o = object()", "    o.p = copy(a)", "    o.q = s", "    o.p[0] *= o.q",
               "    o.q = tanh(o.q + o.p[0])", "    o.p .*= b",
               "    a = tanh(o.p + o.q)", "    s = o.q"]
        name = self.fresh("pair")
        kind = (f"type {name} : mutable class\n    p : vec\n    q : scalar\nend\n"
                f"function [] = step_{name}(self : {name}, t)\n"
                "    self.p = tanh(self.p*t + self.q)\n    self.q = 0.5*self.q + 0.1*sum(self.p)\nend\n")
        use = [f"    o = {name}(p:=a, q:=s)", "    for k = 0..2",
               f"        step_{name}(o, {r.choice(['s', 'b[0]', '0.8'])})",
               "        o.p[0] = o.q", "    end", "    a = o.p.*b", "    s = tanh(o.q)"]
        return r.choice([([], cell), ([], obj), ([kind], use)])

    @of_at_least(1)
    def attempts(self):
        return [], ["    try", f"        a = tanh({self.arrays(2)} + a)", "        s = 0.5*s + 0.1*a[0]",
                    f"        b[{self.r.choice([0, self.n])}] = s", "    catch e", "        b = 0.5*b + a", "    end"]

    @of_at_least(1)
    def own_rule(self):
        name = self.fresh("own")
        return [f"{{!adjoint rule_{name}}}\nfunction [y, z] = {name}(x, t)\n    y = sin(x)*t\n    z = x.^2*0.3\nend\n"
                f"function [dx, dt] = rule_{name}(x, t, y, z, dy, dz)\n    dx = cos(x).*dy*t + 0.6*x.*dz\n"
                f"    dt = sum(sin(x).*dy)\nend\n"], \
            [f"    [a, b] = {name}(a, {self.r.choice(['s', 'sum(b)/9', '0.6'])})"]

    @of_at_least(1)
    def run_again(self):
        e = self.expr(["u[0]", "t"], 1)
        return [], [f"    again = checkpoint((u, t) -> tanh(u*t + {e}) + {self.r.choice(['cumsum(u)', 'u', '0.2'])})",
                    f"    {self.r.choice('ab')} = again({self.r.choice(['a', 'b', 'again(a, s)'])}, s)"]

    @of_at_least(1)
    def inner_derivatives(self):
        r = self.r
        return [], [r.choice(["    a = tanh(grad(u -> sum(sin(u).*u.*b), a))",
                              "    a = tanh(a + 0.3*hvp(u -> sum(u.^3)/6, a, b))",
                              "    [_, t] = jvp(u -> sum(exp(-u.*u).*a), {b}, {a})\n    s = tanh(s + t)",
                              "    s = tanh(grad(t -> sum(sin(t*a)).*t, s))",
                              "    [_, pull] = vjp(u -> tanh(u.*s + b), a)\n    b = pull(b)"])]

    # -- built-ins and places -----------------------------------------------------------------------------------------
    @of_at_least(1)
    def reductions(self):
        r = self.r
        return [], ["    m = vertcat(a, b, sin(a + b))",
                    "    " + r.choice(["a = tanh(sum(m, 0))", "a = mean(m, 0)", "a = tanh(prod(m, 0))",
                                       "a = max(m, [], 0)", "a = tanh(min(m, [], 0))",
                                       "s = tanh(sum(max(m, [], 1)))", "s = tanh(sum(prod(m, 1)))",
                                       "a = tanh(cumsum(a))", "b = tanh(cumprod(b))",
                                       "m = cumsum(m, 0)\n    b = tanh(m[2,:])", "s = tanh(max(m) - min(m))",
                                       "s = tanh(norm(a))", "s = tanh(sum(sum(m.*m, 1)))", "b = tanh(a - mean(a))",
                                       "s = tanh(std(a + 3*(1..%d)))" % self.n if self.n > 1 else "s = mean(a)",
                                       "a = tanh(sum(transpose(m)*m, 0))", "b = sort(b)", "[b, _] = sort(a + b)",
                                       "s = tanh(median(b))"])]

    @of_at_least(7)
    def places(self):
        r = self.r
        return [], [r.choice(["    a[1..2..5] = b[3..-1..1]", "    a[[0,2,2]] = b[[1,1,3]]",
                              "    b = a[[6,0,0,3,3,3,1]].*b", "    b[b > 0.2] = s",
                              "    a[2..4] += 0.3*b[0..2]", "    a[b > 0.1] = 0.5",
                              "    m = reshape(horzcat(a, b), [2,7])\n    m[:,[0,3]] = m[:,1..2]\n"
                              "    m[1,:] .*= 0.5\n    a = m[1,:] + m[0,6]",
                              "    a = a > 0.2 ? sin(a) : b", "    a = b[6..-1..0]",
                              "    c = a[1..4]\n    c[1] = s\n    b[0..3] = c", "    a = circshift(b, 2).*a",
                              "    a[[1,3,5]] .*= b[[2,2,0]]", "    a[3] = b[3]\n    a[3] *= a[2]\n    a[3] ^^= 0.1",
                              "    a = repmat(a[2..2], 1, 7).*b", "    c = conv(a, [0.2,0.5,s])\n    a = tanh(c[1..7])",
                              "    a = interp1(0..6, a, 3 + 2.9*tanh(b))",
                              "    z = fft1(a)\n    a = real(z)/9\n    b = tanh(imag(z))"])]
