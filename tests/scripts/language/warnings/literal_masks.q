% Truth values in a list are the positions 1 and 0; a comparison makes a mask.
x = [[1,2,3],[4,5,6]]
print x[:,[true,false,true]]
b = [true,false]
print [7,8][b]
print x[:,[true,false,true] != 0]
m = x[0,:] > 1
print x[:,m]
% a remainder with operators
print 7 % 2 + 1
print 7 % 2 values
