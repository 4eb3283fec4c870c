% A dimension that an array in a kernel does not have, and what stands before it, is an error at its line.
function [] = __kernel__ smallest(y : mat, pos : ivec2)
    i = argmin([[1.0,5.0],[7.0,2.0]], 2)
    y[pos] = i[0,0]
end
function [] = __kernel__ sums(y : mat, pos : ivec2)
    s = cumsum([[1.0,5.0],[7.0,2.0]], 2)
    y[pos] = s[0,0]
end
function [] = __kernel__ pair(y : mat, pos : ivec2)
    [t, i] = max([[1.0,5.0],[7.0,2.0]], 4, 1)
    y[pos] = t[0,0] + i[0,0]
end
function [] = attempt(f)
    try
        y = zeros(1,1)
        parallel_do(size(y), y, f)
        print y
    catch e
        print e
    end
end
attempt(smallest)
attempt(sums)
attempt(pair)
