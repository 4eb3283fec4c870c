% exit: 1
s = 0
{!parallel for}
for x=[1,2,3]
    s += x
end
