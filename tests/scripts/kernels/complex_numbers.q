function [] = __kernel__ k(x : cvec, y : cvec, r : vec, pos : int)
    z = x[pos]
    y[pos] = z*conj(z) + 1j*z
    r[pos] = abs(z) + real(z) - imag(z)
end
x = [3+4j, 1]
y = czeros(2)
r = zeros(2)
parallel_do(2, x, y, r, k)
print y, r
