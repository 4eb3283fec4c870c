% A representable quotient of complex numbers is correct even if the square of the divisor overflows or underflows.
a = [1e25+1e25j, 1e-25+1e-25j, 3+4j, 3+4j, -1+2j, 2j]
b = [1e25+1e25j, 1e-25+1e-25j, 1e20+0j, 2e-30j, 3-4j, 2j]
function [] = __kernel__ divide(a : cvec, b : cvec, q : cvec, r : cvec, pos : int)
    q[pos] = a[pos] / b[pos]
    r[pos] = 1 / b[pos]
end
q = a .* 0
r = a .* 0
parallel_do(6, a, b, q, r, divide)
print q
print a ./ b
print max(abs(r.*b - 1)) < 1e-6
