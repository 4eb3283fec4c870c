% Reductions of the elements that a mask selects, x[mask], and masks that set elements: machine code, bit by bit.
function [s, n] = rows(a, limit)
    s = zeros(size(a,0),9)
    n = 0
    for i = 0..size(a,0)-1
        r = a[i,:]
        s[i,0] = sum(r[r > limit])
        s[i,1] = mean(r[r > 0.25])
        s[i,2] = max(r[r <= 0.75])
        s[i,3] = min(r[r > 0.125])
        kept = r[abs(r - 0.5) < 0.25]
        n += numel(kept)
        s[i,4] = norm(kept)
        s[i,5] = argmax(kept)
        s[i,6] = sum((r .* r)[r > limit])
        s[i,7] = prod(r[r > 0.9])
        s[i,8] = any(r[r > 0.5])
    end
end
for width = [5, 40, 300]
    a = mod(reshape((0..20*width-1)*37,[20,width]),61)/61
    [s, n] = rows(a, 0.5)
    print width, ": ", sum(s,0), " ", n
end

% A mask that sets elements: of an array made in the loop, of a short one, and of a long one
y = zeros(20)
b = mod(reshape((0..99)*37,[20,5]),61)/61
x = mod((0..99)*37,61)/61
for i = 0..19
    r = copy(b[i,:])
    r[r > 0.5] = 0
    r[r == 0] = i
    y[i] = sum(r)
    x[x > 1 - i/40] = i/100
end
print y
print sum(x), " ", max(x)

% The errors of the interpreter
s = 0
try
    for i = 0..9
        r = b[i,:]
        s += max(r[r > i*0.2])
    end
catch e
    print e, " ", s
end
try
    for i = 0..9
        r = b[i,:]
        s += max(r[x > i*0.2])
    end
catch e
    print e
end

% A selection may be empty although its array is not.
k = int64(mod(reshape((0..24)*37,[5,5]),2))
y = zeros(5)
try
    for i = 0..4
        r = k[i,:]*1.0
        y[i] = max(r[r > i])
    end
catch e
    print e, ": ", y
end
