% devices: ref cpu opencl
% An assignment by a mask as one kernel gives what its parts give: numbers, values of the same mask, updates, types.
function y = whole(x, hi, a)
    y = copy(x)
    y[x < 0] = a*x[x < 0]
    y[x > hi] = hi
    m = x > 0.25 && !(x > 0.5)
    y[m] += 1
    y[m] *= 2
    y[y > 3] -= sqrt(y[y > 3])/2
    y[y == 0] = 0.5
    y[m] = x[m].*y[m] + a
end
function y = parts(x, hi, a)
    y = copy(x)
    m = x < 0
    v = x[m]
    v = a*v
    y[m] = v
    m = x > hi
    y[m] = hi
    m = x > 0.25
    n = x > 0.5
    n = !n
    m = m && n
    v = y[m]
    v = v + 1
    y[m] = v
    v = v*2
    y[m] = v
    n = y > 3
    v = y[n]
    w = sqrt(v)
    w = w/2
    v = v - w
    y[n] = v
    n = y == 0
    y[n] = 0.5
    v = x[m]
    w = y[m]
    v = v.*w
    v = v + a
    y[m] = v
end
function y = whole_of_integers(u)
    y = copy(u)
    y[u > 100] = 100
    y[u < 50] = 2*u[u < 50]
    y[u < 20] += 7
    y[u > 60] = 1.5*u[u > 60] - 100.5
    y[y > 90] = 1000*y[y > 90]
    y[u == 3] = 2.75
end
function y = parts_of_integers(u)
    y = copy(u)
    m = u > 100
    y[m] = 100
    m = u < 50
    v = u[m]
    v = 2*v
    y[m] = v
    m = u < 20
    v = y[m]
    v = v + 7
    y[m] = v
    m = u > 60
    v = u[m]
    v = 1.5*v
    v = v - 100.5
    y[m] = v
    m = y > 90
    v = y[m]
    v = 1000*v
    y[m] = v
    m = u == 3
    y[m] = 2.75
end
function y = whole_of_complex(z, m)
    y = copy(z)
    y[m] = 2*conj(z[m])
    y[m] += 1j
end
function y = parts_of_complex(z, m)
    y = copy(z)
    v = z[m]
    v = conj(v)
    v = 2*v
    y[m] = v
    v = v + 1j
    y[m] = v
end
function [] = compare(name, a, b)
    if type(a) != type(b) || !isequal(size(a), size(b)) || any(a != b)
        print name, " differs: ", type(a), " ", type(b), " ", sum(a != b)
    end
end
x = mod((0..11999)*7919, 1024)/256 - 2
for k = 1..60                          % long enough to be compiled
    for v = {x, float64(x), reshape(x, [100,120]), reshape(x, [20,30,20])}
        compare(type(v), whole(v, 0.75, 0.5), parts(v, 0.75, 0.5))
    end
    for v = {int(x*50), uint8(x*50 + 100), int16(x*100), int64(x*50), uint32(x*50 + 100)}
        compare(type(v), whole_of_integers(v), parts_of_integers(v))
    end
    z = complex(x, 1 - x)
    compare("complex", whole_of_complex(z, x > 0.5), parts_of_complex(z, x > 0.5))
end
% arrays that share elements, strided arrays, and shapes that do not fit
function [] = shared(x)
    y = copy(x)
    part = y[1..9999]
    y[y > 1] = 0
    print sum(y), " ", sum(part)
    t = transpose(reshape(x, [100,120]))
    t[t > 1] = -t[t > 1]
    print sum(t)
    try
        y[x[0..99] > 0] = 1
    catch e
        print e
    end
    try
        y[x > 0] = x[0..9]
    catch e
        print e
    end
    y[x > 1] = x
    print sum(y)
end
for k = 1..3
    shared(x)
end
