a = [[1,2],[3,4]]
b = [[5,6],[7,8]]
print a.*b
print a*b
print a./b == b.*0 + a./b
print [1,2]*a
print transpose([1,2])*[3,4]
print 2*a
print a/2
print 12/a
print a.^2
