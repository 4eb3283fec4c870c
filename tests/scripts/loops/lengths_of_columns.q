% options: --loops always --explain
% Lengths of columns and rows of few elements, as in a power iteration and in Newton's method.
function [x, lambda] = power_iteration(A, n)
    x = ones(size(A,0), 1)
    for k = 1..n
        y = A*x
        lambda = norm(y)
        x = y/lambda
    end
end
function x = newton(x, n)
    for k = 1..n
        F = [[x[0,0]^2 + x[1,0]^2 - 4],[x[0,0]*x[1,0] - 1]]
        J = [[2*x[0,0],2*x[1,0]],[x[1,0],x[0,0]]]
        x = x - inv(J)*F
        if norm(F) < 1e-5
            break
        end
    end
end
function s = lengths(n)
    s = 0
    for i = 1..n
        c = [[i],[2],[-i]]
        r = transpose(c)
        s += norm(c) + squared_norm(r) + dotprod(c, r) + norm([i,1,1])
    end
end
[x, l] = power_iteration([[4,1],[1,3]], 20)
print x, " ", l
print newton([[2],[0.3]], 20)
print lengths(5)
