% options: --loops always
% The loop keeps a short array in variables and sets its elements: nobody else sees that, unless the array has other names.
function p = alone(n)
    p = [0,1]
    moves = [[1,0],[-1,0],[0,1],[0,-2]]
    for i = 1..n
        p += moves[mod(i,4),:]
        p[0] *= 2
        p = p + [1,0]
    end
end
function [] = of_the_caller(p, n)
    for i = 1..n
        p[1] += i
        p = p*2
    end
end
function s = named_twice(n)
    p = [0,1,2]
    q = p
    for i = 1..n
        p[0] += i
        p = p + 1
    end
    s = {p, q}
end
function s = seen_by_others(n)
    p = [1,2,3,4]
    view = reshape(p, [2,2])
    held = {p}
    f = () -> sum(p)
    for i = 1..n
        p[i] = 10*p[i-1]
        p = p + 1
    end
    s = {p, view, held, f()}
end
function s = of_an_outer_loop(n)
    w = [9,9]
    s = cell(n)
    for k = 1..n
        for i = 1..2
            w[i-1] = w[i-1] + k
            w = w*1
        end
        s[k-1] = w
    end
end
function y = copied(x, points)
    y = zeros(numel(x))
    for i = 0..numel(x)-1
        q = copy(points)
        r = copy(q)
        q[0] += x[i]
        q[mod(i,2)] = 7
        y[i] = 100*q[0] + 10*q[1] + r[0] + points[0]
    end
end
print alone(1), alone(9)
p = [1,2]
of_the_caller(p, 3)
print p
print named_twice(0), named_twice(3)
print seen_by_others(3)
print of_an_outer_loop(3)
print copied([5,6,7], [1,2]), copied([5,6,7], [0.1,2]), copied([5,6,7], float64([0.1,2]))
v = [3,4]
old = {}
for i = 0..2
    v[0] += i
    v = v + 1
end
print v
% an int remains one
h = uint64(7)
for i = 1..50
    h = and(h*uint64(31) + uint64(i - 3), uint64(65535))
end
print h, " ", type(h)
