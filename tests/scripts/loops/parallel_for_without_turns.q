x = zeros(4)
{!parallel for}
for i=0..-1
    x[i] = 1
end
{!parallel for}
for i=0..3
    x[i] += i
end
print x
