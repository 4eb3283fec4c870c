% eig in kernels: nan where the host has an error, because A holds nan or inf, or because its norm overflows.
% devices: ref cpu opencl
function [] = __kernel__ vectors(x, y, pos : int)
    [v, d] = eig([[4,2],[x[pos],3]])
    y[pos] = sum(abs(v)) + sum(abs(d))
end
x = [1,nan,inf,-inf,1e30,0]
y = zeros(6)
parallel_do(6, x, y, vectors)
print isnan(y)
try
    print eig([[4,2],[inf,3]])
catch e
    print e
end
