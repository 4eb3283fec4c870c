x = 3
for i = 0..1
    x = x + 1
end
assert(x == 5)
y = 1
y += 1
assert(y == 2)
[a, b] = [1, 2]
a = 3
if b > 1
    a = 4
end
assert(a == 4)
c : int = 2.7
assert(c == 2)
d = 2
eval("d = 3")
print "all hold"
