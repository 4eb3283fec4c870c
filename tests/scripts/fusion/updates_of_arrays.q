% devices: ref cpu
% options: --loops always
% An update of an array by an expression may be computed in its place: the values are those of a result of its own, also
% if the expression reads other elements of the array, or the array has several names.
function [] = compare(name, a, b)
    if type(a) != type(b) || !isequal(size(a), size(b)) || any(a != b)
        print name, " differs: ", type(a), " ", sum(a != b)
    end
end
function y = whole(y, x, z)
    n = size(x, 0)
    m = size(x, 1)
    old = y
    y += 2*x - z
    y -= x.*y
    y .*= (x > 0) + 0.5
    y ./= 1 + abs(z)
    y *= z[0,0] + 2
    y += 0.5*y[0,:]
    y += old[n-1..-1..0,:].*2
    y[1..n-2,1..m-2] += 0.25*(x[0..n-3,1..m-2] + z[1..n-2,2..m-1])
    y[1..n-2,:] -= y[0..n-3,:] + y[2..n-1,:]
    y[0..2..n-1,:] += x[1,:]
    y[:,2] .*= 3
    y[2,:] += x[3,:]/2 + z[3,:]
    y += transpose(old)
    y .^= 2
    y ^^= 2*x
end
function y = parts(y, x, z)
    n = size(x, 0)
    m = size(x, 1)
    a = 2*x
    a = a - z
    y += a
    a = x.*y
    y -= a
    a = x > 0
    a = a + 0.5
    y .*= a
    a = abs(z)
    a = 1 + a
    y ./= a
    y *= z[0,0] + 2
    a = y[0,:]
    a = 0.5*a
    y += a
    a = y[n-1..-1..0,:]
    a = a.*2
    y += a
    a = x[0..n-3,1..m-2]
    b = z[1..n-2,2..m-1]
    a = a + b
    a = 0.25*a
    b = y[1..n-2,1..m-2]
    b += a
    y[1..n-2,1..m-2] = b
    a = y[0..n-3,:]
    b = y[2..n-1,:]
    a = a + b
    b = y[1..n-2,:]
    b -= a
    y[1..n-2,:] = b
    a = x[1,:]
    b = y[0..2..n-1,:]
    b += a
    y[0..2..n-1,:] = b
    a = y[:,2]
    a .*= 3
    y[:,2] = a
    a = x[3,:]
    a = a/2
    b = z[3,:]
    a = a + b
    b = y[2,:]
    b += a
    y[2,:] = b
    a = transpose(y)
    y += a
    y .^= 2
    a = 2*x
    y ^^= a
end
function y = wrong(y, x)
    for e = 0..3
        try
            if e == 0
                y += x[0..88,:] + x[1..89,:]
            elseif e == 1
                y[1..88,:] += 2*x[0..89,0..88]
            elseif e == 2
                y[0,:] += complex(x[0,:], 1)*2
            else
                y[90,:] -= x[0,:]*2
            end
        catch err
            print err
        end
    end
end
x = reshape(mod((0..8099)*7919, 1024)/256 - 2, [90,90])
z = reshape(mod((0..8099)*104729, 1001)/256 - 2, [90,90])
for k = 1..2
    y = 1 + x.*z
    before = copy(y)
    result = whole(y, x, z)
    compare("same type", result, parts(before, x, z))
    compare("one array", y, result)
    compare("float64", whole(float64(x), x, z), parts(float64(x), x, z))
    compare("to float32", whole(copy(x), x, float64(z)), parts(copy(x), x, float64(z)))
    compare("int", whole(int(x*8), int(z*4), z), parts(int(x*8), int(z*4), z))
end
w = copy(x)
compare("errors", wrong(w, z), x)
print grad(x -> updated(x), [1,2,3])
function s = updated(x)
    y = x.*1
    y += 2*x.*y
    y[0..1] -= x[1..2].*3
    s = sum(y.*y)
end
function y = stencil(y)
    n = size(y, 0)
    y[1..n-2,1..n-2] += 0.25*(y[0..n-3,1..n-2] + y[2..n-1,1..n-2]) - y[1..n-2,1..n-2]
    y[1..n-1,:] .*= y[0..n-2,:] + 1
    y[:,0] -= 2*y[:,0] + y[:,1]
end
print stencil(reshape(mod((0..24)*7, 5)/4, [5,5])), stencil(int(reshape(mod((0..24)*7, 5)*4, [5,5])))
