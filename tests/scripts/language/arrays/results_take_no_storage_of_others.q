% A result may reuse the memory of an operand, but not if another variable still refers to the elements.
x = [1,2,3,4]
y = reshape(x, [2,2])
x = x + 1
print(x, y)
y = 2 - y.*y
print(x, y)
z = y
y = y.*3
print(y, z)
f = () -> x
x = x - 1
print(x, f())
c = {x}
x = x./2
print(x, c[0])
