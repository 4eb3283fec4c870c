% options: --loops always
% A short vec takes two indices, as a matrix of one row does.
function [s, c] = rows(n)
    s = 0
    c = zeros(1, 3)
    for k = 1..n
        c = zeros(1, 3)
        for j = 0..2
            c[0,j] = k + mod(j*k, 3)
        end
        c[0,mod(k,3)] += 0.5
        c[0,0..1] = c[0,1..2]*2
        s += c[0,0] + sum(c[0,:])
    end
end
function s = wrong_row(n)
    s = 0
    for k = 1..n
        c = [k, 2, 3]
        s += c[k-1,0]
    end
end
function s = wrong_column(n)
    s = 0
    for k = 1..n
        c = zeros(3)
        c[0,k] = k
        s += c[k]
    end
end
[s, c] = rows(7)
print s, c
for f = {wrong_row, wrong_column}
    try
        print f(5)
    catch e
        print e.line, " ", e
    end
end
