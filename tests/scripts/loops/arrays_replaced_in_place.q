% options: --loops always
% u = u + v in a loop sets the elements of the array that u has, where no program can tell it from a new one.
function [u, v, s] = swing(n, steps)
    u = mod((0..n-1)*7, 11)
    v = zeros(n)
    s = 0
    for k = 1..steps
        v = v - 0.1*u
        u = u + 0.1*v
        if k > 1
            u = abs(u)
        end
        s += u[k]
    end
end
function [u, before] = shared(n)
    u = ones(n)
    before = u
    for k = 1..3
        u = u*2
    end
end
function [u, s] = went_through(n)
    u = (0..n-1)*1.0
    s = 0
    for k = 1..2
        for x = u
            s = s*0.5 + x
            u = u + 1
        end
    end
end
function [u, s] = over_itself(n)
    u = (0..n-1)*1.0
    s = 0
    for x = u
        s = s*0.5 + x
        u = u + 1
    end
end
function [u, w] = kept(n)
    u = ones(n)
    w = 0
    for k = 1..4
        w = u
        u = u + k
    end
end
function [u, s] = both(n)
    u = (0..n-1)*1.0
    v = ones(n)
    s = 0
    for k = 1..4
        [u, v] = [u*0.5 + v, u - v]
        s += v[k]
    end
end
function A = matrices(m, n)
    A = reshape(mod((0..m*n-1)*7, 11), [m, n])
    B = ones(m, n)
    for k = 1..3
        A = A*0.5 + B
        A = A - A[0,0]
    end
end
function u = other_types(n, v)
    u = ones(n)
    for k = 1..3
        u = u + v
    end
end
function u = one_more(n)
    u = ones(n)
    for k = 1..3
        u = u[0..n-k-1] + u[1..n-k]
    end
end
function line = shifted(n)
    line = (0..n-1)*1.0
    for k = 1..3
        line = line[n-1..-1..0]*0.5
        line[0] = k
    end
end
[u, v, s] = swing(100, 50)
print u[0..5], " ", v[0..5], " ", s
[u, before] = shared(40)
print u[0], " ", before[0]
[u, s] = went_through(40)
print u[0..3], " ", s
[u, s] = over_itself(40)
print u[0..3], " ", s
[u, w] = kept(40)
print u[0..3], " ", w[0..3]
[u, s] = both(40)
print u[0..3], " ", s
A = matrices(6, 7)
print A[5,0..4], " ", size(A)
u = other_types(40, float64(ones(40))/3)
print u[0..1] - 2, " ", type(u)
u = other_types(40, int(ones(40)))
print u[0..1], " ", type(u)
u = one_more(60)
print u[0..1], " ", numel(u)
line = shifted(40)
print line[0..3], " ", line[39]
