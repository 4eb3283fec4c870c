% options: --loops always
% Of two zeros max and min take the second, in a compiled expression as in one operator after the other.
a = [0.0,-0.0,0.0,-0.0,nan,1,2]
b = [-0.0,0.0,0.0,-0.0,3,nan,-2]
print 1./max(a,b)
m = max(a,b)
print 1./m
print 1./min(a,b)
m = min(a,b)
print 1./m
print 1./min(0,a), 1./max(a,-0.0)
m = clamp(a,1)
print 1./clamp(a,1) == 1./m
