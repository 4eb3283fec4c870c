% options: --loops always
% Slices of short arrays that the loop changes: read, set and updated, with ranges that are compiled in.
function s = matrix(n)
    m = [[1,2,3],[4,5,6]]
    s = zeros(n, 3)
    for i = 0..n-1
        k = m[:,1]
        r = m[mod(i,2),:]
        c = m[0..1,1..2]
        m[:,mod(i,3)] = k*0.1
        m[1,0..2..2] = m[0,2..-2..0]
        m[mod(i,2),:] += r - 1
        m[0..1,1..2] = c.*2
        m[:,2] -= i
        m[1,1..2] = i/3
        m = m + 0.5
        s[i,:] = m[0,:] + 100*m[1,:]
    end
end
function s = of_the_loop(n)
    s = 0
    for i = 0..n-1
        m = float64([[1,2,3],[4,5,6]])
        m[mod(i,2),:] += 1/3
        k = m[:,mod(i,3)]
        m[:,0] = k
        w = [i, 0.5, -i, 7]
        w[1..2] = w[0..1]
        w[0..2..2] *= 3
        v = w[3..-1..1]
        t = transpose(m)*k
        s = s*0.5 + sum(m) + sum(t) + v[0] - 10*v[1] + w[2] + sum(v)
    end
end
function y = casteljau(p, n)
    y = zeros(n, 2)
    for i = 0..n-1
        q = copy(p)
        for j = 0..1
            q[j,:] = q[j,:] + (q[j+1,:] - q[j,:])*(i/n)
        end
        q[0,:] = q[0,:] + (q[1,:] - q[0,:])*(i/n)
        y[i,:] = q[0,:]
    end
end
function s = shapes(n)
    m = [[1,2,3],[4,5,6],[7,8,9]]
    v = zeros(1,4)
    for i = 1..n
        a = m[:,1]
        b = m[1,:]
        c = m[0..1,:]
        d = m[1..2,2]
        e = v[1..2]
        v[0..1] += i
        m = m*1
    end
    s = {size(a), size(b), size(c), size(d), size(e), a, b, c, d, e}
end
function [] = outside(n)
    m = [[1,2],[3,4]]
    try
        for i = 0..n
            m[i,:] += i
            m = m + 1
        end
    catch e
        print e, " ", m
    end
end
function y = converted(n)
    y = float64(zeros(n))
    x = [0.1,2]
    for i = 0..n-1
        a = float64([0.1,0.7])
        b = float64(x)
        c = float64(float64(zeros(2)))
        c[0] += 1/3
        c = float64(c) + a
        y[i] = c[0] + c[1]*1e6 + b[0]
        x = x + 0.1
    end
end
function [p, q] = converted_twice(n)
    p = float64([1,2])
    for i = 1..n
        q = float64(p)
        p[0] += i/3
        p = p + 1
    end
end
print matrix(4)
printf("%.17g", converted(3))
[p, q] = converted_twice(2)
printf("%.17g %.17g", p, q)
printf("%.17g", of_the_loop(5))
print casteljau([[0,0],[1,2],[3,0]], 4)
print shapes(2)
outside(1), outside(3)
