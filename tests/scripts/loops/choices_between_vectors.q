% options: --loops always
% An array condition chooses element by element: between vectors and numbers of every type, each broadcast to the
% others, like arrays outside of loops.
function y = each(n)
    y = zeros(9, 3)
    k : int = 3
    for i = 0..n-1
        v = [i-1.5, 0.25*i, 2-i]
        w = v > 0 ? v : 5
        y[0,:] = w
        w = v > 0 ? k : v
        y[1,:] = w
        w = v > 0 ? i > 1 : v
        y[2,:] = w
        w = v > 0 ? 1 : int(2)
        y[3,:] = w
        m = [[i,1,2],[3,i,5]]
        r = m .* v
        y[4,:] = r[0,:] + r[1,:]
        r = m > 1 ? v : m
        y[5,:] = r[0,:] - r[1,:]
        c = transpose([1,i])
        r = c - v
        y[6,:] = r[0,:] + 10*r[1,:]
        r = max(m, v)
        y[7,:] = r[1,:]
        r = atan2(v, m)
        y[8,:] = r[0,:] + r[1,:]
    end
end
print each(1)
print each(4)
print each(5)
