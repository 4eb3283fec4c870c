% Solves A*x = b by the factors of A
import "../inputs.q"
function [A, b] = inputs(n)
    A = 0.5*field(n, n)
    for i = 0..n-1
        A[i,i] += n
    end
    b = pattern(n, 53, 1021)
end
function x = ludcmp(A, b)
    n = size(A, 0)
    A = copy(A)
    x = zeros(n)
    y = zeros(n)
    for i = 0..n-1
        for j = 0..i-1
            w = A[i,j]
            for k = 0..j-1
                w -= A[i,k]*A[k,j]
            end
            A[i,j] = w/A[j,j]
        end
        for j = i..n-1
            w = A[i,j]
            for k = 0..i-1
                w -= A[i,k]*A[k,j]
            end
            A[i,j] = w
        end
    end
    for i = 0..n-1
        w = b[i]
        for j = 0..i-1
            w -= A[i,j]*y[j]
        end
        y[i] = w
    end
    for i = n-1..-1..0
        w = y[i]
        for j = i+1..n-1
            w -= A[i,j]*x[j]
        end
        x[i] = w/A[i,i]
    end
end
