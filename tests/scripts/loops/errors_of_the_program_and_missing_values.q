% options: --loops always
% exit: 1
function y = f(x)
    if x > 1
        y = x*2
    end
end
function y = g(x)
    if x < 5
        y = x
        return
    else
        if x == 5
            return
        end
    end
    y = 2*x
end
function s = after_the_first(n)
    s = 0
    for i=0..n-1
        if i > 0
            s += last
        end
        last = i*i
    end
end
function s = now_and_then(n)
    s = 0
    for i=0..n-1
        if mod(i,3) == 2
            v = [i,1]
        end
        s += v[0]
    end
end
print after_the_first(5)
try
    print now_and_then(5)
catch e
    print e
end
s = 0
try
    for i=3..-1..0
        s += f(i)
    end
catch e
    print e
end
print s, " ", i
try
    for i=0..9
        f(i)
        s += i < 9 && g(9-i) > 2 && i > 6 ? 1 : 0
    end
catch e
    print e
end
print s, " ", i
try
    for i=0..9
        s += i
        assert(s < 20 || i > 8, "too many")
    end
catch e
    print e, " ", s
end
try
    for i=0..9
        assert(i < 3)
    end
catch e
    print e, " ", i
end
for i=0..5
    if i == 4
        error("100% wrong")
    end
    s += i
end
