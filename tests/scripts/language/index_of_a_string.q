% exit: 1
print "abc"[1]
