% options: --loops always
% A variable that has another type before the loop is read in it: the interpreter executes the first iteration, and the
% loop continues as machine code.
function y = total(z)
    y = 0
    for i = 0..numel(z)-1
        y += z[i]
    end
end
function y = chosen(z, m)
    y = 0
    for i = 0..numel(z)-1
        if i >= m
            y += z[i]
        end
    end
end
function y = left(z, m)
    y = 1
    for i = numel(z)-1..-1..0
        if i == m
            break
        elseif mod(i, 2) == 0
            continue
        end
        y *= z[i]
    end
end
function [y, n] = nested(z)
    y = 0
    n = 0
    for k = 1..3
        for i = 0..numel(z)-1
            y += k*z[i]
            n += 1
        end
        y = k < 3 ? 0 : y
    end
end
function y = points(n)
    y = "none"
    for i = 0..n-1
        y = i == 0 ? [0,0] : y + [i,1]
    end
end
function y = failing(z)
    y = 0
    for i = 0..9
        y += z[i]
    end
end

z = complex(1..6, 0.5*(6..-1..1))
for n = 0..3
    print total(z[0..n-1])
end
print total(z), total(real(z)), total(z)
print chosen(z, 0), chosen(z, 1), chosen(z, 3), chosen(z, 9)
print left(z, -1), left(z, 5), left(z, 4), left(z, 2)
[y, n] = nested(z)
print y, n
print points(0), points(1), points(2), points(9)
try
    failing(z)
catch e
    print e
end
try
    failing(z[0..-1])
catch e
    print e
end
