% A declared type without a modifier means the default access mode, whatever the argument has; a parameter without a
% declared type has the mode of its argument.  tests/modes.py has the whole table.
function y = __device__ typed(x : vec, i : int)
    y = x[i]
end
function y = __device__ untyped(x, i : int)
    y = x[i]
end
function [] = __kernel__ read(x : vec'unchecked, y : mat, pos : int)
    w : vec = x
    f = (z : vec, i) -> z[i]
    y[0,pos] = typed(x, 1000000000*(pos - 1))
    y[1,pos] = w[1000000000*(pos - 1)]
    y[2,pos] = f(x, 1000000000*(pos - 1))
    y[3,pos] = untyped(x, pos)
end
y = zeros(4,3)
parallel_do(3, [5,6,7], y, read)
print y

% A bilateral filter as many programs write it: its helper is declared with a plain cube.
function v = __device__ weighted(x : cube, at : ivec3, center : scalar)
    d = x[at] - center
    v = x[at]*exp(-d*d)
end
function [] = __kernel__ bilateral(x : cube'unchecked, y : cube'unchecked, pos : ivec3)
    sum = 0.0
    for m = -1..1
        for n = -1..1
            sum += weighted(x, pos + [m,n,0], x[pos])
        end
    end
    y[pos] = sum
end
x = ones(4,4,3)
y = zeros(4,4,3)
parallel_do(size(x), x, y, bilateral)
print y[:,:,0]

% A 'const array stays const in every function that gets it.
function [] = __device__ set(x : vec, i : int)
    x[i] = 1
end
function [] = __kernel__ write(x : vec'const, pos : int)
    set(x, pos)
end
try
    parallel_do(3, [5,6,7], write)
catch e
    print e
end
z : vec'const = [5,6,7]
try
    parallel_do(3, pos -> (z[pos] = 1))
catch e
    print e
end
