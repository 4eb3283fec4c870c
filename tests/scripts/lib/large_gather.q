% A long list of indices is gathered without a list of positions: all element types, shapes, modes; the same errors.
n = 70001
x = 0..n-1
order = mod(x*7919, n)
print sum(abs(x[order] - order)), " ", sum(abs(x[n-1-order] - (n-1-order)))
i = int32(order)
print sum(abs(x[i] - order)), " ", size(x[reshape(order[0..69999], [70,1000])]), " ", size(x[reshape(order, [n,1])])
b = uint8(mod(x, 251))
print sum(abs(b[order] - mod(order, 251))), " ", sum(abs(real(complex(x, x)[order]) - order))
y = x[:,0..2..n-1]
print sum(abs(y[order/2] - 2*floor(order/2))) 
m : vec'mirror = x
print m[order - n][0..3], " ", sum(abs(m[-1-order] - order))
order[5000] = n
try
    x[order]
catch e
    print e
end
order[5000] = 0/0
try
    x[order]
catch e
    print e
end
