% exit: 1
print "this does not run"
x = 3
y = 2*x
x = y - 2
assert(x == 4 && y == 6)
assert(x == y, "the corners of a square are equal")
