% Using a variable without a value is an error, on every control path.
function y = f(n)
    if n > 0
        a = 1
    end
    for k = 1..n
        b = k
    end
    while n > 5
        c = 1
        break
    end
    y = ""
    try
        y += a
    catch e
        y += e + "; "
    end
    try
        y += b
    catch e
        y += e + "; "
    end
    try
        y += c
    catch e
        y += e
    end
end
print f(0)
print f(3)
print f(6)
function [] = g()
    x += 1
end
try
    g()
catch e
    print e
end
h = () -> later + 1
try
    h()
catch e
    print e
end
later = 4
print h()
max = max(3, 4)
print max
