% Positions that happen to be 0 and 1 cause no warning in the library.
print grad(x -> sum(interp1([0,1,2], [0,1,4], x, "pchip")), [0.5,1.7,1.2])
x = [5,6,7]
w = 0 + [0,1,1]
print x[w]
