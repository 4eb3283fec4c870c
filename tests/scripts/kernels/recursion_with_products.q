% The range of an argument that contains the one before twice is not searched again for each mention.
function y = __device__ power_sum(n : int, q : int)
    if n > 0
        y = power_sum(n-1, q*q + q) + 1
    else
        y = q
    end
end
function y = __device__ next(q : int)
    y = mod(q*q - q, 1009)
end
function [] = __kernel__ both(y : vec, z : vec, pos : int)
    y[pos] = power_sum(min(pos, 2), pos)
    u = pos
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    u = next(u)
    z[pos] = u
end
y = zeros(4)
z = zeros(4)
parallel_do(4, y, z, both)
print y, " ", z
