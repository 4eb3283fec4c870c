% options: --loops always --explain
% The last value of 0..8..n-1 is known, so that elements of the last block need no tests.
function y = transposed_blocks(x)
    n = size(x, 0)
    y = zeros(n, n)
    t = zeros(8, 8)
    for a = 0..8..n-1
        for b = 0..8..n-1
            for i = 0..7
                for j = 0..7
                    t[j,i] = x[a+i,b+j]
                end
            end
            for i = 0..7
                for j = 0..7
                    y[b+i,a+j] = t[i,j]
                end
            end
        end
    end
end
x = reshape(0..40*40-1, [40,40])
print max(abs(transposed_blocks(x) - transpose(x)))
try
    print transposed_blocks(x[0..36,0..36])
catch e
    print e
end
