% exit: 1
print "abc
x = 3
