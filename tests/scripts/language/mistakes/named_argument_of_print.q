% exit: 1
print("a", end="")
print 1
