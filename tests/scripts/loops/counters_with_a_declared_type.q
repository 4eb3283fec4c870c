% options: --loops always
% A variable with a declared type counts in a `for`: it takes the values of the range, which nothing converts, while
% assignments still convert.
function s = of_int(x)
    i : int = 7
    s = i/2
    {!parallel for}
    for i = 0..numel(x)-1
        s += x[i]*i
    end
    s += i/2
end
function s = of_parameter(k : int, n)
    s = 0
    for k = 0.25..n
        s += k
    end
    print s, " ", k
    k = 2.75
    print k, " ", type(k)
end
function [] = that_is_set(n)
    i : uint8 = 0
    for i = 250..n-5
        i += 2.75
        print i
    end
    for i = 300..n+44
        print i
    end
    print i, " ", type(i)
    for [i, j] = 0..[n-257,1]
        print i/2, " ", j
    end
    print i, " ", type(i)
end
function [] = of_no_iterations(n)
    i : int = 5
    for k = 0..1
        for i = 1..n
            n -= 1
        end
        print i, " ", i/2
    end
end
function [] = below(x)
    i : int = 0
    s = 0
    for k = 0..3
        for i = k..numel(x)
            s += x[i]
        end
    end
    print s
end
x = [1, 2, 3, 4]
print of_int(x)
of_parameter(1, 3)
that_is_set(258)
of_no_iterations(1)
g : int = 1
for g = 0.5..2
    s = g
end
print s, " ", g
try
    below(x)
catch e
    print e
end
