p = "C:\Users\new\table"
print p
print "it's"
print "a" + "b" + 3
print "x" == "x", " ", "x" == "y", " ", "x" != "y"
print strcat("one", "two", "three")
print ""
