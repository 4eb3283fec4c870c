% options: --loops always
% A slice is read before a call that writes its array, and arrays with two names are written element by element.
function r = write_deep(x, d)
    r = 0
    if d <= 0
        x[0,0] += 1
        return
    end
    r = write_deep(x, d-1) + 1
end
x = ones(4, 50)
y = zeros(3, 50)
s = 0
for i = 0..2
    v = x[0,:]
    s += write_deep(x, 3)
    s += sum(v)
    y[i,:] = x[0,:]*write_deep(x, 3)
end
print s, " ", y[:,0..1]
a = linspace(0, 49, 50)
b = a
function r = shift_deep(d)
    r = 0
    if d <= 0
        a[1..numel(a)-1] = b[0..numel(b)-2]
        return
    end
    r = shift_deep(d-1) + 1
end
print shift_deep(4), " ", a[28..33]
for i = 0..2
    s += shift_deep(3)
end
print s, " ", a[28..33]
