% exit: 1
print "never printed"
assert(1 == 2, "arithmetic is broken")
