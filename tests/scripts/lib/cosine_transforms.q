import "dct.q"
randseed(1)
function C = by_definition(n)
    k = transpose(float64(0..n-1))
    C = sqrt(2/n)*cos(pi/(2*n)*(k*(2*float64(0..n-1)+1)))
    C[0,:] /= sqrt(2)
end
for n = [1,2,3,8,13]
    C = by_definition(n)
    x = float64(rand(n, 6))
    v = float64(rand(1, n))
    print max(abs(dct1(x, 0) - C*x)) < 1e-12, max(abs(dct1(transpose(x), 1) - transpose(C*x))) < 1e-12, _
          max(abs(idct1(x, 0) - transpose(C)*x)) < 1e-12, max(abs(dct1(v) - v*transpose(C))) < 1e-12, _
          max(abs(dct2(x) - C*x*transpose(by_definition(6)))) < 1e-12, max(abs(idct2(dct2(x)) - x)) < 1e-12
end
print type(dct2(rand(3,3))), " ", type(dct2(float64(rand(3,3)))), " ", type(dct1(int([1,2]))), " ", size(dct1(rand(5,1)))
x = rand(1,1000)
print max(abs(idct1(dct1(x)) - x)) < 1e-5, dct1([]), size(dct2(zeros(0,3)))
try
    dct1([1,2], 2)
catch e
    print e
end
% The factors of a length are kept: other lengths, types and dimensions, and the same again, of short and long signals.
wrong = 0
for n = [5,70000,5,1024,70000]
    for f = {u -> u, float64}
        for k = 1..2
            x = f(rand(1,n))
            y = transpose(x)
            wrong += max(abs(idct1(dct1(x,1),1) - x)) > 1e-5 || max(abs(idct1(dct1(y,0),0) - y)) > 1e-5
            wrong += max(abs(dct1(y,0) - transpose(dct1(x,1)))) > 1e-5 || type(dct1(x,1)) != type(x)
        end
    end
end
print "wrong ", wrong
