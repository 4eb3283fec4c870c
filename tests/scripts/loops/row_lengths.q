% options: --loops always --explain
% One element fits any length; other lengths are errors, which come after what was done before.
function a = spread(a, b, c)
    try
        for i = 0..size(a,0)-1
            a[i,:] = a[i,:] + b*2
            a[i,:] += c
        end
    catch e
        print e
    end
end
print sum(spread(zeros(2,40), 0..39, [1]))
print sum(spread(zeros(2,40), 0..39, 0..39))
print sum(spread(zeros(2,40), 0..39, 0..2))
print sum(spread(zeros(2,40), 0..38, 0..39))
function a = beyond(a, n)
    try
        for i = 0..n
            a[i..i+n] = a[i..i+n]*2
            a[n-i..-2..0] = i
        end
    catch e
        print e
    end
end
print beyond(ones(1,7), 3)
print beyond(ones(1,6), 3)

% An array that has two names, and one that is read where it was just written, stay with the interpreter.
function a = shared(a, b)
    for i = 0..1
        b[i,:] = a[1-i,:] + 1
        s = sum(b[i,:])
        a[0,0] = s
    end
end
m = reshape(0..79, [2,40])
n = shared(m, m)
print sum(n), " ", n[0,0]
function x = moved(x)
    for i = 0..1
        x[1..numel(x)-1] = x[0..numel(x)-2]
    end
end
print moved(0..9)
