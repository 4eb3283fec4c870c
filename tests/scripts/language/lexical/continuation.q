x = 1 + _
    2
print x
y = (1 +
     2 +
     3)
print y
z = (10) -
    4
print z
function r = add(a,
                 b = 2, % a comment inside
                 c = 3)
    r = a + b + c
end
print add(1,
          10)
v = [1,
     2,
     3]
print v
w = x > 2 &&
    y > 5
print w
