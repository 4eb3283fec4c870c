% options: --loops always
% Inner loops whose index tests depend on a value of the outer iteration: the tests are made in front of them.  The
% iterations run in vectors if each reads an element before another one stores it, and in order if not.
function x = start(n)
    x = mod(7*(0..n-1), 31)*0.25
end
function x = down(n, d, v)
    x = start(n)
    for i = 0..numel(d)-1
        for c = n-5..-1..max(d[i], 0)
            x[c] = max(x[c], x[c - d[i]] + v[i])
        end
    end
end
function x = branches(n, d, v)
    x = start(n)
    for i = 0..numel(d)-1
        k = d[i]
        for c = 4..n-9
            t = x[c + k] + v[i]
            if t > x[c]
                x[c] = t*0.5
            end
        end
    end
end
function x = strided(n, d)
    x = start(n)
    for i = 0..numel(d)-1
        for c = 1..n/4-1
            x[2*c + 1] = x[2*c + d[i]] + d[i]*x[c + n/2]
        end
    end
end
function y = independent(n, d)
    x = start(n)
    y = zeros(n)
    s = 0
    for i = 0..numel(d)-1
        for c = 8..n-9
            y[c] = y[c] + x[c - d[i]]*0.5
            s += x[c + d[i]]
        end
    end
    y[0] = s
end
function x = written_twice(n, d)
    x = start(n)
    for i = 0..numel(d)-1
        for c = 4..n-5
            x[c] = x[c]*0.5
            x[c + d[i]] = x[c + d[i]] + 1
        end
    end
end
function [] = show(what, x)
    print what, ": ", sum(x), " ", sum(x.*(0..numel(x)-1)), " ", x[numel(x)-1]
end
function [] = fails(what, f)
    try
        show(what, f())
    catch e
        print what, ": ", e
    end
end
n = 200
show("down, read first", down(n, int([3,1,0,50,199,300]), int([5,9,4,100,7,9])))
show("down, in order", down(n, int([3,-1,-4,2]), int([5,9,4,1])))
show("inexact in float32", down(n, int([3,1,7]), int([16777217,33554433,5])))
show("branches, read first", branches(n, int([3,0,8]), int([1,2,3])))
show("branches, in order", branches(n, int([-3,2,-1,-4]), int([1,2,3,4])))
show("strided, read first", strided(n, int([1,3,2,9])))
show("strided, in order", strided(n, int([-1,0,3,-2])))
show("independent", independent(n, int([3,-8,0,8])))
show("written twice", written_twice(n, int([3,-4,0])))
fails("down outside", () -> down(n, int([3,-5]), int([1,2])))
fails("branches outside", () -> branches(n, int([3,9]), int([1,2])))
fails("strided outside", () -> strided(n, int([3,-3])))
fails("independent outside", () -> independent(n, int([3,9])))
x = start(12)
try
    for i = 0..1
        for c = 11..-1..1
            x[c] = x[c - i] + x[c - 2*i]
        end
    end
catch e
    print e
end
print x
