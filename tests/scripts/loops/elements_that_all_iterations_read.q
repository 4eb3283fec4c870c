% An iteration stores an element that all iterations read: those before it read the old value, those after it the new
% one.
function [] = shortest(D)
    n = size(D, 0)
    for k = 0..n-1
        for i = 0..n-1
            for j = 0..n-1
                D[i,j] = min(D[i,j], D[i,k] + D[k,j])
            end
        end
    end
end
function [] = divide(A, c)
    for i = 0..size(A,0)-1
        for j = 0..size(A,1)-1
            A[i,j] = A[i,j]/A[i,c]
        end
    end
end
function [] = subtract(x, k, first, last)
    for t = 0..3
        for j = first..last
            if x[j] > 0
                x[j] -= x[k]
            else
                x[j] += 2*x[k] + t
            end
        end
    end
end
function [] = after(x, k)
    for t = 0..3
        for j = 0..numel(x)-1
            x[j] = 0.5*x[j]
            x[j] += x[k]
        end
    end
end
function [] = backward(x, k)
    for t = 0..3
        for j = numel(x)-1..-1..0
            x[j] = x[j] - x[k]
        end
    end
end
function s = digest(x)
    s = 0
    for i = 0..numel(x)-1
        s = mod(31*s + 65536*x[i], 1048573)
    end
end
function x = numbers(n : int)
    x = mod(37.0*(1..n), 101)/8 + 1
end
for n = [1, 2, 7, 40]
    D = reshape(numbers(n*n), [n,n])
    shortest(D)
    A = reshape(numbers(n*n), [n,n])
    divide(A, n-1)
    B = reshape(numbers(n*n), [n,n])
    divide(B, floor(n/2))
    print n, ": ", digest(reshape(D, [n*n])), " ", digest(reshape(A, [n*n])), " ", digest(reshape(B, [n*n]))
end
n = 50
for k = [0, 1, 24, 48, 49]
    x = numbers(n) - 6
    subtract(x, k, 0, n-1)
    y = int(numbers(n) - 6)
    subtract(y, k, 10, 40)
    z = float64(numbers(n) - 6)
    subtract(z, k, k, n-1)
    v = numbers(n)
    after(v, k)
    w = numbers(n)
    backward(w, k)
    print k, ": ", digest(x), " ", digest(y), " ", digest(z), " ", digest(v), " ", digest(w)
end
x = numbers(n)
subtract(x, 3, 5, 4)
print digest(x)
