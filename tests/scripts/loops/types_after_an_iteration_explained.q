% exit: 1
% devices: cpu
% options: --explain --loops always
% The loop is machine code after its first iteration; the second function never gets the other type.
function y = total(z)
    y = 0
    for i = 0..numel(z)-1
        y += z[i]
    end
end
function y = never(z, m)
    y = 0
    for i = 0..numel(z)-1
        y += i > m ? z[i] : y
    end
end
z = complex(4,1)*complex([1,2,3])
total(z)
never(z, 9)
exit(1)
