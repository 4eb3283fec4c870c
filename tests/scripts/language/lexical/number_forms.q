print 5.678, " ", -1.9e-4, " ", 0., " ", 1e3
print 1011011b, " ", 0FFh, " ", 17o
print 3j, " ", 1+1j, " ", 2i
n = 3
print 2^-n
