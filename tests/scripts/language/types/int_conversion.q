n : int = 7/2
print n, " ", type(n)
m : int = -1.5
print m
n = 9.99
print n
print int(2.9), int(-2.9), " ", int([1.5,-1.5]), " ", float(int(3))/2
function y = f(k : int)
    y = k
end
print f(3)
try
    print f(3.7)
catch e
    print e
end
u : uint8 = 300
print u
