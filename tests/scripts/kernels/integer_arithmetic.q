function [] = __kernel__ k(y : vec, pos : int)
    a : int = pos
    b = a/2
    c : int = a/2
    d = int(a/2)*2
    y[pos] = b + 10*c + 100*d + 1000*mod(a,3)
end
y = zeros(5)
parallel_do(5, y, k)
print y
z = vec[uint8](3)
parallel_do(3, z, __kernel__ (z : vec[uint8], pos : int) -> z[pos] = 200 + 50*pos)
print z
