% Reductions of small matrices along a dimension, and cross products, are machine code with the bits of the interpreter:
% `parallel for` is an error if a loop is interpreted.
c = mod(reshape((0..23)*311,[8,3]),101)/101
x = mod(reshape((0..29)*37,[10,3]),61)/61
y = zeros(10,8)
{!parallel for}
for i = 0..9
    d = (c - x[i,:]).^2
    near = sum(d, 1)
    y[i,0] = argmin(near)
    y[i,1] = near[1,0]
    y[i,2] = sum(mean(d, 0).*[1,10,100])
    y[i,3] = sum(mean(d, 1)) - sum(prod(d, 1))
    y[i,4] = sum(argmax(d, 0).*[1,10,100])
    y[i,5] = sum(logsumexp(d, 1))
    y[i,6] = sum(prod(d, 0)) + sum(norm1(d - 0.5, 1))
    e = sum(x[i,:], 1)
    y[i,7] = e[0]
end
for i = 0..9
    printf("%.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g", y[i,0], y[i,1], y[i,2], y[i,3], y[i,4], y[i,5], y[i,6], y[i,7])
end

z = zeros(9,3)
{!parallel for}
for i = 1..9
    z[i-1,:] = cross(x[i-1,:], x[i,:])
end
for i = 0..8
    printf("%.9g %.9g %.9g", z[i,0], z[i,1], z[i,2])
end

% float64 stays float64
function w = torque(n)
    w = float64([0,0,0])
    lever = float64([0.1,0.2,0.3])
    for i = 1..n
        w = w + cross(lever, [i/7,i/3,i])
    end
end
w = torque(50)
printf("%.17g %.17g %.17g", w[0], w[1], w[2])
