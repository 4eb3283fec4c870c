a = 5
a += 2
a -= 1
a *= 3
a /= 9
print a
a ^= 3
print a
v = [1,2,3]
w = v
v += 1
print w
v .*= [1,2,3]
v ./= 2
v .^= 2
print v
n : int = 12
n &= 10
print n
n |= 3
print n
n ~= 1
print n
n ^^= 20
print n
n __= 7
print n
v[1] += 100
print v
