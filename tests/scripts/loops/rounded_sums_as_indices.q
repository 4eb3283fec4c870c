% options: --loops always
% t < 4, but t + 1 may be rounded to 5, so that x[floor(t+1)] is outside.
function s = near(x, z, n)
    s = 0
    for k = 0..numel(z)-1
        t = z[k]
        if t >= 0 && t < n
            s += x[floor(t+1)]
        end
    end
end
function s = inside(x, z, n)
    s = 0
    for k = 0..numel(z)-1
        t = z[k]
        if t >= 0 && t < n
            s += x[floor(t)+1]
        end
    end
end
x = [1,2,3,4,5]
z = float64(ones(1,1000))*(4-2^-51)
print inside(x, z, 4)
try
    print near(x, z, 4)
catch e
    print e
end
