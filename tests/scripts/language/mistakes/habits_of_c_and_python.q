% exit: 1
x = zeros(4)
double d = 3
float f[3]
if (x != 3) { print x }
end
x(end+1) = 3
f = x => x^2
y = 1 << 3
y = 8 >> 1
y = 3 if x else 4
y = [i^2 for i in 0..3]
y = x[:-1]
y = 5 mod 3
y = new vec(3)
for (i = 0..3)
end
del x
for k, v in {1: 2}
end
