% Compiled loops whose arguments share memory give what the interpreter gives, although LLVM knows of most loops that
% their arrays do not overlap.
function [] = chain(a, b, n)
    for i = 1..n-1
        b[i] = b[i-1] + a[i]
    end
end
function [] = rows(a, b, c, n)
    for i = 0..n-1
        for j = 0..n-1
            c[i] += a[i,j]*b[j]
            b[j] += 0.5*a[j,i]
        end
    end
end
function [] = mm(a, b, c, n)
    for i = 0..n-1
        for k = 0..n-1
            for j = 0..n-1
                c[i,j] += a[i,k]*b[k,j]
            end
        end
    end
end
function x = numbers(n : int)
    x = mod(37.0*(0..n-1), 101)/101 - 0.5
end
n = 40
for pass = 1..2 % the first calls are interpreted
    x = numbers(n)
    chain(x, x, n)
    print sum(x)
    x = numbers(n+1)
    chain(x[1..n], x, n)
    print sum(x)
    A = reshape(numbers(n*n), [n,n])
    x = numbers(n)
    rows(A, x, x, n)
    print sum(x)
    B = reshape(numbers(n*n), [n,n])
    rows(B, squeeze(B[:,0]), squeeze(B[0,:]), n)
    print sum(B)
    mm(0.1*A, B, A, n)
    print sum(A)
    mm(B, A, A, 3)
    print sum(A)
    mm(A, A, A, 3)
    print sum(A)
end
