params = object()
params.a = 2
params.x = [1,2,3]
y = zeros(3)
parallel_do(3, params.x, params.a, y, __kernel__ (x, a, y, pos : int) -> y[pos] = a*x[pos])
print y
