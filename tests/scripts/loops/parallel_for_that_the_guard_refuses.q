% exit: 1
x = 0..99
y = zeros(50)
{!parallel for}
for i=0..49
    y[i] = x[2*i]
end
print sum(y)
{!parallel for}
for i=0..49
    y[i] = x[2*i + 2]
end
