% exit: 1
% options: --loops always
% The error of n |= i in a compiled loop names the column that the interpreter names.
function y = bits(n, i)
    for k = 0..1
        n |= i
    end
    y = n
end
print bits(1, 0.5)
