% exit: 1
x = zeros(8)
{!parallel for}
for i=0..7
    x[i] = i*i
end
print x
{!parallel for}
for i=1..7
    x[i] = x[i] + x[i-1]
end
print x
