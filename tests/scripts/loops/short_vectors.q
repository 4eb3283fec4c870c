% options: --loops always
A = reshape((0..29)*0.5, [10,3])
B = zeros(10,3)
shift = [1,-1,0.1]
for i=0..9
    p = A[i,:]
    q = 2*p + shift.^2 - [i,0,1]/3
    if max(q) > 20
        q[mod(i,3)] = -1
    end
    B[i,:] = q
    B[i,:] += norm(p) - sum(q)
    A[i,0..1] = [0,i]
end
print B
print A[9,:], p, q, type(q), size(q)
% the vector from before the loop, and one that is set in some iterations
v = [1,2]
for i=1..4
    v = v*2 + 0.1
    if mod(i,2) == 0
        u = -v
    end
end
print v, u
function [a,b] = polar(p : vec2)
    a = hypot(p[0], p[1])
    if a == 0
        b = [0,0]
        return
    end
    b = p/a
end
total = 0
for i=0..3
    [r,e] = polar([3*i,4*i])
    total += r + dotprod(e,[1,10])
end
print total, e
