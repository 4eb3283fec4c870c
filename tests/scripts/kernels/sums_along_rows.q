% tolerance: 1e-5
% Kernels with sums along rows whose terms are expensive: blocks of terms are computed in vectors, in both directions,
% beside stores and other variables, and for all lengths around that of a block.
function [] = __kernel__ forward(x : mat, y : mat, pos : int)
    s = 0.0
    t = 1.0
    last = 0.0
    for j = 0..size(x,1)-1
        e = exp(x[pos,j])
        y[pos,j] = e
        s += e
        t = 0.5*t + 2*e
        last = e
    end
    y[pos,0] = s
    y[pos,1] = t
    y[pos,2] = last
end
function [] = __kernel__ backward(x : mat, y : mat, pos : int)
    s = 0.0
    n = 0
    for j = size(x,1)-1..-1..0
        s = s/2 + j/(1 + x[pos,j])
        n += 1
    end
    y[pos,0] = s
    y[pos,1] = n
end
function [] = __kernel__ updated(x : mat, y : mat, pos : int)
    s = 0.0
    for j = 0..size(x,1)-2
        x[pos,j+1] = sqrt(x[pos,j] + 1)
        s += x[pos,j]
    end
    y[pos,0] = s
end

for n = [3,63,64,65,66,127,128,129,200]
    x = reshape(mod((0..7*n-1)*7919, 101)/101, [7,n])
    y = zeros(7,n)
    parallel_do(7, x, y, forward)
    print n, y[:,0..2], sum(y)
    parallel_do(7, x, y, backward)
    print y[:,0..1]
    parallel_do(7, x, y, updated)
    print transpose(y[:,0]), sum(x)
end
