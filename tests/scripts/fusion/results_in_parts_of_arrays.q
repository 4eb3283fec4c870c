% devices: ref cpu
% An expression that is assigned to a part of an array may be computed in its place: the values are those of a result of
% its own, also if the expression reads other elements of the same array.
function [] = compare(name, a, b)
    if type(a) != type(b) || !isequal(size(a), size(b)) || any(a != b)
        print name, " differs: ", type(a), " ", sum(a != b)
    end
end
function y = whole(x, z)
    n = size(x, 0)
    m = size(x, 1)
    y = copy(x)
    y[1..n-2,1..m-2] = x[0..n-3,1..m-2] + 2*x[2..n-1,1..m-2] - x[1..n-2,0..m-3]
    y[0,:] = x[1,:].*2 - z[2,:]
    y[:,m-1] = x[:,0] + z[0..n-1,1]./4
    y[1..n-2,1..m-2] = y[1..n-2,1..m-2].*2 - z[1..n-2,1..m-2]
    y[1..n-2,1..m-2] = y[0..n-3,1..m-2] + y[2..n-1,1..m-2]
    y[n-1,:] = y[n-1,m-1..-1..0] + 1
    y[0..2..n-1,:] = abs(z[0..2..n-1,:]) - 3
    y[:,0..3..m-1] = y[:,1..3..m-1] - y[:,0..3..m-1]
    y[:,:] = y + transpose(z[0..m-1,0..n-1])
    y[2,:] = z[2,:] > 0 ? x[2,:] : 7
    y[3,:] = x[3,5] + x[3,7]
    y[4..5,:] = x[4,:] + 2*z[4..5,:]
end
function y = parts(x, z)
    n = size(x, 0)
    m = size(x, 1)
    y = copy(x)
    a = x[0..n-3,1..m-2]
    b = x[2..n-1,1..m-2]
    b = 2*b
    a = a + b
    b = x[1..n-2,0..m-3]
    a = a - b
    y[1..n-2,1..m-2] = a
    a = x[1,:]
    a = a.*2
    b = z[2,:]
    a = a - b
    y[0,:] = a
    a = x[:,0]
    b = z[0..n-1,1]
    b = b./4
    a = a + b
    y[:,m-1] = a
    a = y[1..n-2,1..m-2]
    a = a.*2
    b = z[1..n-2,1..m-2]
    a = a - b
    y[1..n-2,1..m-2] = a
    a = y[0..n-3,1..m-2]
    b = y[2..n-1,1..m-2]
    a = a + b
    y[1..n-2,1..m-2] = a
    a = y[n-1,m-1..-1..0]
    a = a + 1
    y[n-1,:] = a
    a = z[0..2..n-1,:]
    a = abs(a)
    a = a - 3
    y[0..2..n-1,:] = a
    a = y[:,1..3..m-1]
    b = y[:,0..3..m-1]
    a = a - b
    y[:,0..3..m-1] = a
    a = z[0..m-1,0..n-1]
    a = transpose(a)
    a = y + a
    y[:,:] = a
    a = z[2,:]
    a = a > 0
    b = x[2,:]
    b[!a] = 7
    y[2,:] = b
    a = x[3,5]
    a = a + x[3,7]
    y[3,:] = a
    a = x[4,:]
    b = z[4..5,:]
    b = 2*b
    a = a + b
    y[4..5,:] = a
end
x = reshape(mod((0..59999)*7919, 1024)/256 - 2, [200,300])
z = reshape(mod((0..99999)*104729, 1001)/256 - 2, [400,250])
z = repmat(z, [1,2])
z = z[0..299,0..299]
x = x[:,0..299]
for k = 1..30                          % long enough to be compiled
    u = x[0..199,:]
    v = z[0..199,:]
    w = zeros(300,300)
    w[0..199,:] = v
    compare("same type", whole(u, w)[0..1,:], parts(u, w)[0..1,:])
    compare("same type", whole(u, w), parts(u, w))
    compare("float64", whole(float64(u), w), parts(float64(u), w))
    compare("to float32", whole(u, float64(w)), parts(u, float64(w)))
    compare("int", whole(int(u*8), w), parts(int(u*8), w))
    compare("complex", whole(complex(u,1), w), parts(complex(u,1), w))
end
% arrays of three dimensions, names of one array, errors
A = reshape(mod((0..63999)*7919, 1024)/256 - 2, [4,100,160])
for k = 1..60
    B = zeros(4,100,160)
    part = B[2,:,:]
    B[1,:,1..158] = A[1,:,0..157] + A[3,:,2..159]
    B[2,:,:] = A[0,:,:] + reshape(A[1,:,:], [1,100,160])
    C = B
    C[:,1..98,:] = B[:,0..97,:] - 0.5*B[:,2..99,:]
end
print sum(B), " ", sum(C), " ", sum(part), " ", isequal(B[1,5,1..158], C[1,5,1..158])
function [] = errors(x)
    y = zeros(100,100)
    for e = 0..2
        try
            if e == 0
                y[1..98,:] = x[0..98,0..99] + x[1..99,0..99]
            elseif e == 1
                y[1..100,:] = x[0..99,0..99] + x[1..100,0..99]
            else
                y[0..99,:] = complex(x[0..99,0..99], 1) + x[1..100,0..99]
            end
        catch err
            print err
        end
    end
    print sum(y)
end
for k = 1..3
    errors(x)
end
print grad(x -> written(x), [1,2,3])
function s = written(x)
    y = zeros(3)
    y[0..1] = x[1..2].*x[0..1] + 1
    s = sum(y.*y)
end
