#!/usr/bin/env python3
"""Derivatives of the built-ins, row by row of builtins.def, at random points in float64.

Each row has a rule (BY, ELEMENTS) or says why not; each that has one has a line below, with arguments at which it is smooth.
Of each line: what reverse mode gives is compared with central differences (gradcheck), the same of its gradient (second
derivatives), and <v, J u> with <J' v, u> between forward and reverse; where torch has the function, with torch as well."""
import argparse, os, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# name: (function of the arguments, arguments …); A(m,n) is a random matrix, V(n) a vec, Z… complex, P… positive
CASES = {
    "pow": ["(x,a) -> pow(x,a)", "P(3)", "V(3)"],
    "mod": ["x -> mod(x, 0.7)", "V(3)"],
    "periodize": ["x -> periodize(x, 0.7)", "V(3)"],
    "clamp": [("x -> clamp(x, -0.3, 0.4)", "V(7)"), ("(x,h) -> clamp(x, h)", "V(5)", "V(5)+1")],
    "where": [("(a,b) -> where([1,0,1] == 1, a, b)", "V(3)", "V(3)"), ("a -> where([[1,0],[0,1]] == 1, a, 2)", "V(2)")],
    "float": ["x -> float(x)", "V(3)"],
    "cast_like": ["x -> cast_like(x, float64([1]))", "V(3)"],
    "complex": [("(a,b) -> complex(a,b).^2", "V(3)", "V(3)")],
    "linspace": ["(a,b) -> linspace(a, b, 5)", "0.3", "1.7"],
    "meshgrid": [("(a,b) -> both(a, b)", "V(3)", "V(2)")],
    "copy": ["x -> copy(x)", "A(2,3)"],
    "reshape": [("x -> reshape(x, [3,2])", "A(2,3)"), ("x -> reshape(x, 2, 3, 1)", "V(6)")],
    "transpose": [("x -> transpose(x)", "A(2,3)"), ("x -> transpose(x)", "V(3)"), ("x -> transpose(x)", "Z(2,3)")],
    "herm_transpose": ["x -> herm_transpose(x)", "Z(2,3)"],
    "permute": [("x -> permute(x, [2,0,1])", "C(2,3,4)"), ("x -> permute(x, [1,0])", "A(2,3)")],
    "moveaxis": [("x -> moveaxis(x, 0, 2)", "C(2,3,4)"), ("x -> moveaxis(x, 1, 0)", "A(3,2)")],
    "squeeze": ["x -> squeeze(x)", "C(2,1,3)"],
    "vertcat": [("(a,b) -> vertcat(a, b)", "A(2,3)", "V(3)"), ("(a,b) -> vertcat(a, b)", "0.3", "1.2")],
    "horzcat": [("(a,b) -> horzcat(a, b, a)", "A(2,3)", "A(2,1)"), ("(a,b) -> horzcat(a, [], b)", "V(2)", "V(3)")],
    "cat": [("(a,b) -> cat(2, a, b)", "C(2,3,2)", "A(2,3)"), ("(a,b) -> cat(0, a, b)", "A(2,3)", "A(1,3)")],
    "repmat": [("x -> repmat(x, [2,3])", "A(2,2)"), ("x -> repmat(x, 2, 2)", "V(3)"), ("x -> repmat(x, [1,1,3])", "A(2,2)")],
    "circshift": [("x -> circshift(x, [1,-2])", "A(3,4)"), ("x -> circshift(x, 2, 1)", "A(3,4)"), ("x -> circshift(x, 1)", "V(4)")],
    "flip": [("x -> flip(x)", "V(4)"), ("x -> flip(x, 1)", "A(2,3)"), ("x -> flip(x)", "A(2,3)")],
    "fliplr": ["x -> fliplr(x)", "A(2,3)"],
    "flipud": ["x -> flipud(x)", "A(2,3)"],
    "diag": [("x -> diag(x)", "V(3)"), ("x -> diag(x)", "A(3,3)"), ("x -> diag(x)", "A(2,4)"), ("x -> diag(x)", "A(4,2)")],
    "diagm": [("x -> diagm(x)", "V(3)"), ("x -> diagm(x)", "A(2,2)")],
    "triu": [("x -> triu(x)", "A(3,3)"), ("x -> triu(x, 1)", "A(3,4)")],
    "tril": [("x -> tril(x)", "A(3,3)"), ("x -> tril(x, -1)", "Z(3,4)")],
    "kron": [("(a,b) -> kron(a, b)", "A(2,3)", "A(3,2)"), ("(a,b) -> kron(a, b)", "Z(2,2)", "Z(1,2)")],
    "cross": [("(a,b) -> cross(a, b)", "V(3)", "V(3)"), ("(a,b) -> cross(a, b)", "A(2,3)", "A(2,3)")],
    "sum": [("x -> sum(x)", "A(2,3)"), ("x -> sum(x, 0)", "A(2,3)"), ("x -> sum(x, 1)", "Z(2,3)"), ("x -> sum(x, 2)", "C(2,2,3)")],
    "prod": [("x -> prod(x)", "V(4)"), ("x -> prod(x, 0)", "A(3,2)"), ("x -> prod(x)", "zero(V(4))"), ("x -> prod(x, 1)", "Z(2,3)")],
    "mean": [("x -> mean(x)", "A(2,3)"), ("x -> mean(x, 1)", "A(2,3)"), ("x -> mean(x)", "Z(2,2)")],
    "var": [("x -> var(x)", "V(5)"), ("x -> var(x, 0)", "A(4,2)"), ("x -> var(x, 1, 0)", "A(2,3)"), ("x -> var(x)", "Z(1,4)")],
    "std": [("x -> std(x)", "V(5)"), ("x -> std(x, 0)", "A(4,2)")],
    "median": [("x -> median(x)", "V(5)"), ("x -> median(x)", "V(4)"), ("x -> median(x)", "A(5,2)"), ("x -> median(x, 1)", "A(2,4)")],
    "min": [("x -> min(x)", "A(2,3)"), ("(a,b) -> min(a, b)", "V(4)", "V(4)"), ("x -> min(x, [], 0)", "A(3,2)")],
    "max": [("x -> max(x)", "V(5)"), ("(a,b) -> max(a, b)", "V(4)", "0.1"), ("x -> max(x, [], 1)", "A(3,4)")],
    "cumsum": [("x -> cumsum(x)", "V(4)"), ("x -> cumsum(x, 1)", "A(2,3)"), ("x -> cumsum(x)", "A(3,2)")],
    "cumprod": [("x -> cumprod(x)", "V(4)"), ("x -> cumprod(x, 1)", "A(2,3)"), ("x -> cumprod(x)", "zero(V(4))"), ("x -> cumprod(x)", "Z(3,2)")],
    "diff": [("x -> diff(x)", "V(4)"), ("x -> diff(x, 1)", "A(2,4)"), ("x -> diff(x, 0)", "A(3,2)")],
    "trapz": [("x -> trapz(x)", "V(4)"), ("(x,y) -> trapz(x, y)", "up(4)", "V(4)"), ("(x,y) -> trapz(x, y, 1)", "up(3)", "A(2,3)"), ("y -> trapz([], y, 0)", "A(3,2)")],
    "cumulative_trapezoid": [("x -> cumulative_trapezoid(x)", "V(4)"), ("(x,y) -> cumulative_trapezoid(x, y)", "up(4)", "V(4)")],
    "percentile": [("x -> percentile(x, 30)", "V(6)"), ("x -> percentile(x, [20,80], 0)", "A(5,2)")],
    "quantile": [("x -> quantile(x, 0.3)", "V(6)"), ("x -> quantile(x, 0.4, 1)", "A(2,5)"), ("x -> quantile(x, 0.3, 1, \"hazen\")", "A(2,5)"), ("x -> quantile(x, [0.3,0.6])", "A(3,2)")],
    "nansum": [("x -> nansum(x)", "V(4)"), ("x -> nansum(x, 0)", "A(3,2)")],
    "nanmean": [("x -> nanmean(x)", "V(4)"), ("x -> nanmean(x, 1)", "A(3,2)")],
    "nanmin": [("x -> nanmin(x)", "V(4)"), ("x -> nanmin(x, 0)", "A(3,2)")],
    "nanmax": [("x -> nanmax(x)", "V(4)"), ("x -> nanmax(x, 1)", "A(3,2)")],
    "nanmedian": [("x -> nanmedian(x)", "V(4)"), ("x -> nanmedian(x)", "A(5,2)"), ("x -> nanmedian(x, 1)", "A(2,3)")],
    "nanvar": [("x -> nanvar(x)", "V(5)"), ("x -> nanvar(x, 0)", "A(4,2)")],
    "nanstd": [("x -> nanstd(x)", "V(5)"), ("x -> nanstd(x, 0)", "A(4,2)")],
    "sort": [("x -> sort(x)", "V(5)"), ("x -> sort(x, 1)", "A(2,4)"), ("x -> sort(x, \"descend\")", "A(4,2)"), ("x -> sort(x, 0, \"descend\")", "A(4,2)")],
    "unique": ["x -> unique(x)", "A(2,3)"],
    "dotprod": [("(a,b) -> dotprod(a, b)", "V(4)", "V(4)"), ("(a,b) -> dotprod(a, b)", "A(2,2)", "V(4)"), ("(a,b) -> dotprod(a, b)", "Z(1,3)", "Z(1,3)")],
    "norm": [("x -> norm(x)", "A(2,3)"), ("x -> norm(x)", "Z(1,3)")],
    "squared_norm": [("x -> squared_norm(x)", "A(2,3)"), ("x -> squared_norm(x)", "Z(1,3)")],
    "interp1": [("(x,y,t) -> interp1(x, y, t)", "up(5)", "V(5)", "[0.6,2.3,3.7]+0*V(3)"),
                ("(x,y,t) -> interp1(x, y, t, \"pchip\")", "up(6)", "V(6)", "[0.6,2.3,3.7]+0*V(3)"),
                ("(x,y,t) -> interp1(x, y, t, \"spline\")", "up(6)", "V(6)", "[0.6,2.3,3.7]+0*V(3)"),
                ("(x,y,t) -> interp1(x, y, t, \"spline\", \"extrap\")", "up(3)", "V(3)", "[-0.6,1.3,5.7]+0*V(3)"),
                ("(y,t) -> interp1(0..4, y, t, \"nearest\", \"clamp\")", "V(5)", "[-1.2,2.3,6.4]+0*V(3)"),
                ("(y,t) -> interp1(0..4, y, t, \"previous\", 3)", "V(5)", "[-1.2,2.3,6.4]+0*V(3)"),
                ("(y,t) -> interp1(0..4, y, t, \"next\", \"extrap\")", "V(5)", "[0.2,2.3,3.4]+0*V(3)"),
                ("(y,t,o) -> interp1(0..4, y, t, \"linear\", o)", "A(5,2)", "[-1.2,2.3,6.4]+0*V(3)", "0.7"),
                ("(y,t) -> interp1(0..4, y, t, \"linear\", \"extrap\")", "V(5)", "[-1.2,2.3,6.4]+0*V(3)")],
    "interp2": [("(z,x,y) -> interp2(z, x, y)", "A(4,5)", "[0.4,2.7]+0*V(2)", "[1.2,2.6]+0*V(2)"),
                ("(z,x,y) -> interp2(z, x, y, \"linear\", \"clamp\")", "A(4,5)", "[-0.4,2.7]+0*V(2)", "[1.2,3.6]+0*V(2)"),
                ("(z,o) -> interp2(z, [-0.4,2.7], [1.2,1.6], \"linear\", o)", "A(4,5)", "0.3"),
                ("z -> interp2(z, [0.4,2.7], [1.2,1.6], \"nearest\")", "A(4,5)")],
    "histogram": ["x -> edges_of(x)", "V(5)"],
    "bincount": ["w -> bincount([0,2,2,1], 5, w)", "V(4)"],
    "polyfit": ["(x,y) -> polyfit(x, y, 2)", "up(6)", "V(6)"],
    "polyval": ["(p,x) -> polyval(p, x)", "V(3)", "A(2,2)"],
    "roots": ["p -> sum(abs(roots(p)).^2)", "[1.5,-2.3,0.4,1.2]+0*V(4)"],
    "medfilt": [("x -> medfilt(x)", "A(4,5)"), ("x -> medfilt(x, 2)", "A(3,4)"), ("x -> medfilt(x)", "V(6)"), ("x -> medfilt(x)", "C(3,3,2)")],
    "conv": [("(a,b) -> conv(a, b)", "V(5)", "V(3)"), ("(a,b) -> conv(a, b, \"same\")", "V(5)", "V(4)"), ("(a,b) -> conv(a, b, \"valid\")", "V(5)", "V(3)"),
             ("(a,b) -> conv(a, b, \"same\")", "V(3)", "V(5)"), ("(a,b) -> conv(a, b)", "Z(1,4)", "Z(1,3)")],
    "conv2": [("(a,b) -> conv2(a, b)", "A(3,4)", "A(2,3)"), ("(a,b) -> conv2(a, b, \"same\")", "A(4,4)", "A(3,2)"), ("(a,b) -> conv2(a, b, \"valid\")", "A(4,5)", "A(2,3)"),
              ("(a,b) -> conv2(a, b)", "Z(3,2)", "Z(2,2)")],
    "cov": [("x -> cov(x)", "A(5,3)"), ("(x,y) -> cov(x, y)", "V(5)", "V(5)"), ("x -> cov(x)", "V(5)")],
    "corrcoef": [("x -> corrcoef(x)", "A(6,3)"), ("(x,y) -> corrcoef(x, y)", "V(5)", "V(5)")],
    "solve": [("(a,b) -> solve(a, b)", "A(3,3)+3*eye(3)", "A(3,2)"), ("(a,b) -> solve(a, b)", "A(4,2)", "A(4,1)"), ("(a,b) -> solve(a, b)", "A(2,4)", "A(2,2)"),
              ("(a,b) -> solve(a, b)", "Z(3,3)+3*eye(3)", "Z(3,1)")],
    "linsolve": ["(a,b) -> linsolve(a, b)", "A(3,3)+3*eye(3)", "A(3,1)"],
    "inv": [("x -> inv(x)", "A(3,3)+3*eye(3)"), ("x -> inv(x)", "Z(2,2)+3*eye(2)")],
    "pinv": [("x -> pinv(x)", "A(4,2)"), ("x -> pinv(x)", "A(2,4)"), ("x -> pinv(x)", "Z(3,2)")],
    "det": [("x -> det(x)", "A(3,3)"), ("x -> det(x)", "Z(2,2)"), ("x -> det(x)", "[[1,2],[2,4]]+0*A(2,2)")],
    "logdet": [("x -> logdet(x)", "A(3,3)+3*eye(3)"), ("x -> real(logdet(x))", "Z(2,2)+3*eye(2)")],
    "trace": [("x -> trace(x)", "A(3,3)")],
    "cond": ["x -> cond(x)", "A(3,3)+diag([1,2,4])"],
    "chol": [("x -> chol(sym(x))", "A(3,3)"), ("x -> chol(sym(x))", "Z(3,3)")],
    "chol_ex": ["x -> first_of_chol(sym(x))", "A(3,3)"],
    "qr": [("x -> part_qr(x, 0)", "A(4,3)"), ("x -> part_qr(x, 1)", "A(4,3)"), ("x -> part_qr(x, 0)", "A(2,3)"), ("x -> part_qr(x, 1)", "A(2,3)"), ("x -> qr(x)", "A(3,3)"),
           ("x -> part_qr(x, 0)", "Z(3,2)"), ("x -> part_qr(x, 1)", "Z(3,3)")],
    "svd": [("x -> svd(x)", "A(4,3)"), ("x -> part_svd(x, 0)", "A(4,3)"), ("x -> part_svd(x, 1)", "A(3,3)"), ("x -> part_svd(x, 2)", "A(2,4)"), ("x -> part_svd(x, 0)", "Z(3,2)"), ("x -> part_svd(x, 2)", "Z(3,3)")],
    "symeig": [("x -> symeig(sym(x))", "A(3,3)"), ("x -> part_symeig(sym(x), 0)", "A(3,3)"), ("x -> part_symeig(sym(x), 1)", "A(3,3)"), ("x -> part_symeig(sym(x), 0)", "Z(3,3)")],
    "eig": [("x -> real(eig(x))", "A(3,3)+diag([1,3,6])"), ("x -> part_eig(x, 0)", "A(3,3)+diag([1,3,6])"), ("x -> part_eig(x, 0)", "Z(3,3)+diag([1,3,6])"), ("x -> part_eig(x, 1)", "Z(3,3)+diag([1,3,6])")],
    "fft1": [("x -> fft1(x)", "Z(1,5)"), ("x -> fft1(x, 1)", "A(2,4)"), ("x -> fft1(x)", "V(4)")],
    "fft2": [("x -> fft2(x)", "A(3,4)"), ("x -> fft2(x)", "Z(2,3)")],
    "fft3": ["x -> fft3(x)", "C(2,3,2)"],
    "ifft1": [("x -> ifft1(x)", "Z(1,5)"), ("x -> real(ifft1(x, 0))", "Z(4,2)")],
    "ifft2": ["x -> ifft2(x)", "Z(3,4)"],
    "ifft3": ["x -> ifft3(x)", "C(2,3,2)"],
    "fftshift1": ["x -> fftshift1(x)", "V(5)"], "fftshift2": ["x -> fftshift2(x)", "A(3,4)"], "fftshift3": ["x -> fftshift3(x)", "C(2,3,3)"],
    "ifftshift1": ["x -> ifftshift1(x)", "V(5)"], "ifftshift2": ["x -> ifftshift2(x)", "A(3,4)"], "ifftshift3": ["x -> ifftshift3(x)", "C(2,3,3)"],
}
# Functions of elements, where they are not smooth everywhere: arguments other than V(3).
ELEMENTS = {"sqrt": ["P(3)"], "log": ["P(3)"], "log2": ["P(3)"], "log10": ["P(3)"], "log1p": ["P(3)"], "acosh": ["P(3)+1"], "asin": ["0.5*V(3)"], "acos": ["0.5*V(3)"],
            "atanh": ["0.5*V(3)"], "lgamma": ["P(3)"], "tgamma": ["P(3)"], "atan2": ["V(3)", "P(3)"], "hypot": ["V(3)", "P(3)"], "lerp": ["V(3)", "V(3)", "V(3)"],
            "saturate": ["0.1+0.5*P(3)"], "cbrt": ["P(3)"], "abs": ["P(3)"]}
BOTH = {"exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt", "log", "conj", "real", "imag", "abs", "angle", "asin", "acos", "atan", "asinh", "acosh", "atanh"}  # complex, too
OPERATORS = {
    "x+y": ["(a,b) -> a+b", "A(2,3)", "V(3)"], "x-y": ["(a,b) -> a-b", "A(2,3)", "0.4"], "x.*y": ["(a,b) -> a.*b", "A(2,3)", "A(2,1)"],
    "x./y": ["(a,b) -> a./b", "V(3)", "P(3)"], "x.^y": ["(a,b) -> a.^b", "P(3)", "V(3)"], "-x": ["a -> -a", "A(2,2)"], "x*y": ["(a,b) -> a*b", "A(2,3)", "A(3,2)"],
    "x*y complex": ["(a,b) -> a*b", "Z(2,3)", "Z(3,1)"], "x.*y complex": ["(a,b) -> a.*b", "Z(2,3)", "A(2,3)"], "x./y complex": ["(a,b) -> a./b", "Z(2,2)", "Z(2,2)"],
    "x.^2": ["a -> a.^2", "V(3)"], "x^3": ["a -> a^3", "0.7"], "vec * column": ["(a,b) -> a*b", "V(3)", "A(3,1)"], "column * vec": ["(a,b) -> a*b", "A(3,1)", "V(2)"],
    "x[i]": ["x -> x[1]", "V(3)"], "x[i,j]": ["x -> x[1,2]", "A(2,3)"], "x[a..b,:]": ["x -> x[1..2,:]", "A(3,2)"], "x[list]": ["x -> x[[0,2,0]]", "V(3)"],
    "x[mask]": ["x -> x[[1,0,1] == 1]", "V(3)"], "x[:]": ["x -> x[:]", "V(3)"], "x[position]": ["x -> x[[1,0]]", "A(2,2)"], "x[lists]": ["x -> x[[1,0,1],[0,0]]", "A(2,2)"],
    "written": ["(x,v) -> written(x, v)", "A(2,3)", "V(3)"], "written list": ["(x,v) -> written_list(x, v)", "V(4)", "V(3)"], "written mask": ["(x,v) -> written_mask(x, v)", "V(4)", "V(2)"],
    "written whole mask": ["(x,v) -> written_mask(x, v)", "V(4)", "V(4)"], "x[i] += v": ["(x,v) -> added(x, v)", "V(4)", "0.3"], "x += v": ["(x,v) -> updated(x, v)", "A(2,3)", "V(3)"],
    "[a,b]": ["(a,b) -> [a,b,a*b]", "0.3", "0.7"], "[u,v]": ["(a,b) -> [a,b]", "V(3)", "V(3)"], "[A,B]": ["(a,b) -> [a,b]", "A(2,3)", "A(2,3)"], "range": ["(a,b) -> a..b..9", "0.3", "2.2"],
    "for x": ["x -> each_of(x)", "V(3)"], "rows": ["x -> each_row(x)", "A(3,2)"], "[a,b] = x": ["x -> taken(x)", "V(2)"], "?:": ["x -> x > 0 ? x.^2 : x", "V(4)"],
    "parameter modes": ["x -> clamped_read(x)", "V(3)"], "number": ["x -> x > 0 ? sin(x)*2 : x", "0.4"], "complex number": ["z -> abs(z*z + 1)", "0.3+0.4j"],
}
HELP = """
function v = V(n)
    v = cast_like(2*rand(1,n)-1, float64([0])) + 0.01
end
function v = P(n)
    v = V(n)/2 + 1
end
function v = A(m,n)
    v = cast_like(2*rand(m,n)-1, float64([0])) + 0.01
end
function v = C(m,n,k)
    v = cast_like(2*rand(m,n,k)-1, float64([0])) + 0.01
end
function v = Z(m,n)
    v = complex(A(m,n), A(m,n))
end
function v = up(n)
    v = float64(0..n-1) + 0.2*P(n)
end
function v = zero(v)
    v[1] = 0
end
function v = both(a, b)
    [x, y] = meshgrid(a, b)
    v = x.*y + y
end
function e = edges_of(x)
    [h, e] = histogram(x, 4)
end
function s = sym(x)
    s = x*herm_transpose(x) + (x + herm_transpose(x))/2 + diag([3,4,5])
end
function r = first_of_chol(x)
    [r, info] = chol_ex(x)
end
function y = part_qr(x, k)
    [q, r] = qr(x)
    y = k == 0 ? q : r
end
function y = part_svd(x, k)
    [u, s, v] = svd(x)
    y = k == 0 ? u : k == 1 ? s : v
end
function y = part_symeig(x, k)
    [v, d] = symeig(x)
    y = k == 0 ? v : d
end
function y = part_eig(x, k)
    [v, d] = eig(x)
    y = k == 0 ? v : d
end
function y = written(x, v)
    y = copy(x)
    y[1,:] = v
    y[0,1] = 2*v[0]
end
function y = written_list(x, v)
    y = 2*x
    y[[3,1,3]] = v
end
function y = written_mask(x, v)
    y = 2*x
    y[[0,1,0,1] == 1] = v
end
function y = added(x, v)
    y = copy(x)
    y[1] += v*x[0]
    y[2] *= x[3]
end
function y = updated(x, v)
    y = 2*x
    y += v
    y .*= x
end
function s = each_of(x)
    s = 0
    k = 1
    for v = x
        s += k*v^2
        k += 1
    end
end
function s = each_row(x)
    s = 0
    k = 1
    for v = x
        s += k*v.^2
        k += 1
    end
end
function s = taken(x)
    [a, b] = x
    s = a*b
end
function y = clamped_read(x : vec[float64]'clamped)
    y = zeros_like(x, 5)
    for i = 0..4
        y[i] = x[i-1]^2
    end
end
function [] = check(name, f, arguments, second)
    try
        good = apply(gradcheck, together(f, arguments))
    catch e
        print "FAIL ", name, ": ", e
    end
    if second
        try
            seed = 17
            g = (...x) -> slope(f, x, seed)
            good = apply(gradcheck, together(g, arguments))
        catch e
            print "FAIL second ", name, ": ", e
        end
    end
    try
        transposed(name, f, arguments)
    catch e
        print "FAIL forward ", name, ": ", e
    end
end
function list = together(f, arguments)
    list = cell(numel(arguments)+1)
    list[0] = f
    for i = 0..numel(arguments)-1
        list[i+1] = arguments[i]
    end
end
% One number made of the gradient of one number made of f.
function s = slope(f, arguments, seed)
    d = apply(grad, together((...x) -> weighted(f, x, seed), arguments))
    s = real(sum(d.*conj(d)))/2
end
function s = weighted(f, arguments, seed)
    y = apply(f, arguments)
    randseed(seed)
    w = 0.5 + cast_like(rand(size(y)), float64([0]))
    s = sum(w.*real(y)) + sum(w.*imag(y))/3
end
function u = like(x)
    u = type(x) == "scalar" ? rand() : type(x) == "cscalar" ? complex(rand(), rand()) : iscomplex(x) ? complex(weights(x), weights(x)) : weights(x)
end
function w = weights(x)
    w = cast_like(rand(size(x))-0.4, float64([0]))
end
function [] = transposed(name, f, arguments)
    n = numel(arguments)
    us = cell(n)
    for i = 0..n-1
        us[i] = like(arguments[i])
    end
    [y, dy] = jvp(f, arguments, us)
    [y, pull] = apply(vjp, together(f, arguments))
    v = like(y)
    left = real(sum(conj(v).*dy))
    right = 0
    if n == 1
        right = inner(pull(v), us[0])
    elseif n == 2
        [a, b] = pull(v)
        right = inner(a, us[0]) + inner(b, us[1])
    else
        [a, b, c] = pull(v)
        right = inner(a, us[0]) + inner(b, us[1]) + inner(c, us[2])
    end
    if abs(left-right) > 1e-8*(1+abs(left))
        print "FAIL forward ", name, ": <v, J u> is ", left, ", <J' v, u> is ", right
    end
end
function s = inner(a, b)
    s = real(sum(conj(a).*b))
end
"""
NOT_TWICE = {"roots", "cond", "eig", "svd", "symeig"}


def rows():
    """name -> what the column `adjoint` says"""
    found = {}
    for line in open(os.path.join(ROOT, "stdlib/builtins.def"), encoding="utf-8"):
        m = re.match(r'(?:NATIVE|EACH)\("([^"]+)".*?, (ZERO|CALLS|ELEMENTS|BY\("[^"]*"\)|NONE\("[^"]*"\))\)$', line.rstrip())
        if m:
            found[m[1]] = m[2]
        elif re.match(r'(NATIVE|EACH)\("', line):
            sys.exit(f"builtins.def: no adjoint in {line[:60]}")
    return found


def elements():
    """name -> number of arguments"""
    text = open(os.path.join(ROOT, "lang/kernel/elem/elem.def"), encoding="utf-8").read()
    truths = {"isnan", "isinf", "isfinite", "floor", "ceil", "round", "trunc", "sign", "nextpow2"}
    return {m[1]: int(m[2]) for m in re.finditer(r"^ELEM\((\w+), (\d)", text, re.M) if m[1] not in truths}


def cases():
    out = []
    for name, lines in list(CASES.items()) + list(OPERATORS.items()):
        for one in ([tuple(lines)] if isinstance(lines[0], str) else lines):
            out.append((name, one[0], one[1:]))
    for name, n in elements().items():
        names = ["x", "y", "z"][:n]
        call = f"({','.join(names)}) -> {name}({','.join(names)})"
        out.append((name, call, ELEMENTS.get(name, ["V(3)"]*n)))
        if n == 1:
            number = f"sum({ELEMENTS[name][0]})/3" if name in ELEMENTS else "0.37"
            out.append((name, call, [number]))
        if name in BOTH:
            out.append((name, call, ["Z(1,3)"]))
    return out


def program(list_of_cases):
    text = HELP + "\n"
    for k, (name, function, arguments) in enumerate(list_of_cases):
        twice = "false" if name in NOT_TWICE else "true"
        label = (name + ": " + function + " at " + ", ".join(arguments)).replace('"', '""')
        text += f'randseed({k+1})\ncheck("{label}", {function}, {{{", ".join(arguments)}}}, {twice})\n'
    return text


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--qrun", default=os.path.join(ROOT, "build/qrun"))
    p.add_argument("--device", default="cpu")
    p.add_argument("--only", help="rows of this name")
    p.add_argument("--print", action="store_true", help="print the program")
    a = p.parse_args()
    table = rows()
    missing = [n for n, r in table.items() if r.startswith("BY") and n not in CASES]
    if missing:
        sys.exit("no line in CASES for " + ", ".join(missing))
    chosen = [c for c in cases() if not a.only or c[0] == a.only]
    text = program(chosen)
    if a.print:
        return print(text)
    r = subprocess.run([a.qrun, "--device", a.device, "--precision", "64", "--no-warnings", "-"], input=text, capture_output=True, text=True, timeout=600)
    bad = [line for line in r.stdout.splitlines() if line.startswith("FAIL")]
    print(r.stdout if not r.returncode else r.stdout + r.stderr, end="")
    print(f"gradients: {len(chosen)} functions, {len(bad)} derivatives differ")
    sys.exit(bool(bad or r.returncode))


if __name__ == "__main__":
    main()
