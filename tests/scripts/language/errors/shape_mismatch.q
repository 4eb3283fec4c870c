% exit: 1
a = ones(3,4)
b = ones(4,3)
c = a + b
