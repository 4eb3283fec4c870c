% options: --loops always
% An element that was read and not stored since is read once, unless something in between may have changed it.
function y = f(x, idx)
    y = zeros(numel(x))
    for i=0..numel(x)-1
        a = x[i]
        if a > 2
            x[i] = a/2
        end
        b = x[i]
        if b > 1
            c = x[i]
        else
            x[i] += 1
            c = x[i]*10
        end
        d = x[i]
        for k=0..2
            d += x[i]
            x[i] += 1
            d += x[i]
        end
        e = b > 2 ? x[i] : 3
        g = x[i] + x[mod(i+1,numel(x))]
        y[i] = a + 2*b + 4*c + 8*d + 16*e + 32*g
    end
end
print f([1,2,3,4,5.5],0), f([-1,0.5],1)
x = [5,6,7]
y = x
for i=0..1
    a = x[i]
    y[i+1] = a + 1
    b = x[i+1]
    y[i] = b + x[i]
end
print x
