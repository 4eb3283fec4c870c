function [] = __kernel__ add(a, b, c, pos)
    c[pos] = a[pos] + b
end
x = [1,2,3]
y = zeros(3)
parallel_do(3, x, 5, y, add)
print y
z = vec[int](3)
parallel_do(3, vec[int](3), int(7), z, add)
print z
