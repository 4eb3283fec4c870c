% options: --loops always --explain
% A remainder by a number or an extent from before the loop is compiled for one that is at least 1, so that indices by
% such remainders are tested once for all iterations.
function y = around(x, n)
    y = zeros(n, n)
    for i = 0..n-1
        for j = 0..n-1
            y[i,j] = x[mod(i+1,n), mod(j-1,n)] + x[mod(i-1,size(x,0)), j]
        end
    end
end
function s = picked(x, n, k)
    s = 0
    for i = 0..k
        s += i*x[mod(7*i, n)] + x[floor(mod(i, 8)/2)] + x[shr(mod(i, 8), 1)]
    end
end
x = mod(reshape((0..35)*37, [6,6]), 101)
print sum(around(x, 6).*around(x, 6)), " ", sum(around(x[0..2,0..2], 3)), " ", around([[7]], 1)
print picked(0..9, 10, 30), " ", picked(0..9, 6, 30), " ", picked(0..9, 10, 3)
for n = [5,0,-5]
    try
        print picked(0..9, n, 2)
    catch e
        print e
    end
end
