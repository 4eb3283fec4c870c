% float64 counts as scalar in kernels, too: a parameter, result, local or vector that is declared with float64
% keeps its digits, as on the host
function y = __device__ take(u : scalar)
    y = u
end
function y : scalar = __device__ give(u)
    y = u
end
function y = __device__ first(u : vec3)
    y = u[0]
end
function y = __device__ complex_one(z : cscalar)
    y = real(z)
end
function [] = __kernel__ all(x : vec, y : vec, pos : int)
    y[0] = take(x[0])
    y[1] = give(x[0])
    y[2] = first([x[0],1,2])
    a : scalar = x[0]
    y[3] = a
    b : scalar = 1
    b = x[0]
    y[4] = b
    for i = 0..1
        b += x[0]
    end
    y[5] = b - 2*x[0]
    c : vec3 = [0,0,0]
    c[1] = x[0]
    y[6] = c[1]
    n : vec3 = [x[0],1,2]
    y[7] = n[0]
    y[8] = complex_one(complex(x[0], x[1]))
    d : scalar = 0.1
    y[9] = d*x[1]
end
x = float64([0.1,1])
y = zeros_like(x, 10)
parallel_do(1, x, y, all)
print max(abs(y - 0.1)) < 1e-15
% declared float32, they are float32
y = zeros(10)
parallel_do(1, [0.1,1], y, all)
print max(abs(y - 0.1)) < 1e-7, max(abs(y - 0.1)) > 1e-10
