% options: --loops always --explain
% A loop with three matrices of 2..5 columns, in all 64 combinations, stays compiled.
function s = total(a, b, c, n)
    s = 0
    for i=0..n-1
        s += a[i,0]*b[i,1] + c[i,1]
    end
end

% No loop calls it: a loop would contain the code of `total`.
function s = sum_of_totals(p)
    s = 0
    if p < 64
        s = total(ones(3,2+mod(p,4)), 2*ones(3,2+mod(floor(p/4),4)), 3*ones(3,2+mod(floor(p/16),4)), 3)
        s += sum_of_totals(p + 1)
    end
end

print sum_of_totals(0)
