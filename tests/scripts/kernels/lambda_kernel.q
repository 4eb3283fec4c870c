x = [[1,2],[3,4]]
y = zeros(2)
parallel_do(2, __kernel__ (pos) -> y[pos] = x[pos,pos])
print y
