lerp = __device__ (a,b,c) -> a*c+b*(1-c)
function y = __device__ early(x : scalar)
    y = 0
    for k = 0..9
        if k > x
            y = k
            return
        end
    end
    y = -1
end
function [a, b] = __device__ two(x)
    a = x + 1
    b = x*2
end
function [] = __kernel__ k(y : mat, f, pos : int)
    y[pos,0] = lerp(10, 20, 0.5)
    y[pos,1] = early(pos*4)
    [p, q] = two(pos)
    y[pos,2] = p*q
    y[pos,3] = f(pos)
end
y = zeros(4,4)
parallel_do(4, y, __device__ (x) -> x^2, k)
print y
