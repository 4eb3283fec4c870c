% Compared with a constant zero, -0 is less than 0; of two unknown zeros min and max return either.
function [] = __kernel__ known(x : vec, y : mat, z : mat'unchecked, w : vec[float64], pos : int)
    y[0,pos] = max(x[pos], 0.0)
    y[1,pos] = min(x[pos], 0.0)
    y[2,pos] = max(x[pos], -0.0)
    y[3,pos] = min(-0.0, x[pos])
    z[0,pos] = max(0.0, w[pos])
    z[1,pos] = min(w[pos], 0.0)
    z[2,pos] = max(w[pos], -0.0)
    z[3,pos] = x[pos] < 0.0 ? x[pos] : 0.0
end
function [] = __kernel__ unknown(a : vec, b : vec, y : mat, pos : int)
    y[0,pos] = max(a[pos], b[pos])
    y[1,pos] = min(a[pos], b[pos])
end
x = [0.0,-0.0,1,-1,nan]
y = zeros(4,5)
z = zeros(4,5)
parallel_do(5, x, y, z, float64(x), known)
print 1./y
print 1./z
parallel_do(5, [0.0,-0.0,0.0,1,nan], [-0.0,0.0,nan,nan,2], y, unknown)
print abs(y[0..1,:])
