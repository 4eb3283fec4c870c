% exit: 1
a = ones(3,4)
b = a*a
