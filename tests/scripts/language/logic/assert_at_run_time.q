% exit: 1
x = numel([1,2,3])
assert(x > 2)
print "passed the first"
assert(x > 5, "x is too small")
