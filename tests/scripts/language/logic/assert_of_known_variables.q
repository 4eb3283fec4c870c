% exit: 1
print "never printed"
x = 3
y = x + 1
name = "cpu"
z = rand(2)
assert(x == 3 && y == 4 && name == "cpu")
assert(x == 4)
