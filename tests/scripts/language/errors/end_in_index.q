% exit: 1
x = [1,2,3]
print x[end]
