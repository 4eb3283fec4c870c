% Matrix products with more rows, columns and depth than a block of their loops have every element, also for nan and -0.
function [] = check(m, k, n)
    a = reshape(mod((0..m*k-1)*7, 13) - 6, [m,k])
    b = reshape(mod((0..k*n-1)*5, 11) - 5, [k,n])
    c = zeros(m, n)
    for p = 0..k-1
        c += a[:,p].*b[p,:]
    end
    for kind = 0..3
        x = kind == 0 ? a : kind == 1 ? float64(a) : kind == 2 ? complex(a, 0) : int(a)
        y = kind == 0 ? b : kind == 1 ? float64(b) : kind == 2 ? complex(b, 0) : int(b)
        if max(abs(float64(real(x*y)) - c)) != 0
            print "wrong: ", m, " ", k, " ", n, " ", kind
        end
    end
end
for m = [1, 5, 96, 97, 200]
    for k = [1, 16, 256, 257]
        check(m, k, 15)
        check(m, k, 33)
    end
end
a = ones(100, 2)
a[98,1] = nan
b = -zeros(2, 2)
print find(isnan(a*b)), " ", 1/(a*b)[0,0]
