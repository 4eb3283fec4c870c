% exit: 1
x = zeros(4)
print x(2:3)
x(1,:) = 5
print x(1:n)
x++
y--
prnt x
whlie x
if x:
    y = 1
elif x
end
y = not x
y = x and x
/* comment */
a := 3
let x = 3
throw "x"
from a import b
i++; j++
b{0} = 3
x = 1:5
x = x[::2]
sin 3
y = x xor y
