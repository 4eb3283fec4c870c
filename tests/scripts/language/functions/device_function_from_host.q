lerp = __device__ (a,b,c) -> a*c+b*(1-c)
print lerp(10, 20, 0.25)
function y = __device__ sq(x : scalar)
    y = x*x
end
print sq(4)
