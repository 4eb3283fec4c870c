% G = (A*B)*(C*D), each product as a sum in a variable
import "../inputs.q"
function [A, B, C, D] = inputs(n)
    A = field(n, n)
    B = field(n, n, 53)
    C = field(n, n, 71)
    D = field(n, n, 91)
end
function C = product(A, B)
    n = size(A, 0)
    C = zeros(n, n)
    for i = 0..n-1
        for j = 0..n-1
            s = 0.0
            for k = 0..n-1
                s += A[i,k]*B[k,j]
            end
            C[i,j] = s
        end
    end
end
function G = three_mm(A, B, C, D)
    G = product(product(A, B), product(C, D))
end
