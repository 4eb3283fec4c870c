% exit: 1
x = 3
print x(2)
