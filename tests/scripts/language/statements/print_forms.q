print "J=", 3, " sigma=", 0.5
print("x")
print("a", 1)
print 1 + 2
print
print [1.5,2], "|", true, "|", "s"
