% Bit operations on floats use the bits of their integral values, in operators as in functions.
x = [1,2,3,7]
y = x
y &= 6
print y, x, and([5,7], 6), type(y, "vec")
y |= [8,0,0,16]
y ~= 1
print y
z = float64([9007199254740991])
z &= 4503599627370496
print z
n = int([12,10])
n &= [6.0,3.0]
print n
for m = {[1.5,2], [nan,1]}
    try
        m &= 1
    catch e
        print e
    end
end
% the result is rounded to the type of the floats, on every path, like the result of arithmetic
wide = [16777216.0,3]
wide |= 1
print wide, or([16777216.0,4], 1)
