% options: --loops always
function s = pw(a, b)
    s = 0
    for i = 0..numel(a)-1
        t = a[i]^b[i]
        s = s + t
        u = a[i]^int(3)
        s = s + u
    end
    s = t
end
function s = pw1(x, n)
    for i = 0..3
        s = int(x)^int(n-i)
        v = i > 1 ? 2 : int(2)
        w = v^int(2) + 3^v + v^v
    end
    s = s + w
end
s = pw(int([2,3,-3]), int([10,5,3]))
print s, type(s)
s = pw(int([2,3,-3]), int([10,5,-3]))
print s, type(s)
s = pw(int([2,3,-3]), int([10,0,3]))
print s, type(s)
print pw1(2,62), type(pw1(2,62)), pw1(-2,60), pw1(3,2), type(pw1(3,2)),pw1(0,-1)
try, print pw1(2,63), catch e, print e, end
try, print pw1(10,19), catch e, print e, end
try, print pw1(-2,66), catch e, print e, end
