% options: --loops always
% Remainders of negative constants, and branches that store one of two elements, which may be the same one.
function x = wrapped(n)
    x = zeros(n)
    for i = 0..99
        x[mod(-4, n)] += 1
        x[mod(i-1, n)] += mod(-7, n)
    end
end
print wrapped(3), wrapped(5)
function D = ends(D, c)
    n = numel(D)
    for i = 0..n-1
        a = D[i]
        b = D[n-1-i]
        if c[i] > 0
            D[i] = a + 1
        else
            D[n-1-i] = b - 1
        end
    end
end
print ends(zeros(7), [1,-1,1,1,-1,1,-1]), ends(zeros(7), [1,-1,1,-1,-1,1,-1])
