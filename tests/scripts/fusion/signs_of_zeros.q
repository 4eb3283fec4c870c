% options: --loops always
% -0 is smaller than 0, in a compiled expression as in operators applied one by one.
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

% Negation changes the signs of both parts of a complex number.
z = complex([0.0,-0.0,1], [0.0,0.0,-0.0])
print -z, -(z + 0), -complex(0,0)
print angle(-z), sqrt(-complex([4.0], [0.0]))
print -uint32([0,1]), -([true,false]), -float64([0]), -uint64([0,5]), -int8([-128])
