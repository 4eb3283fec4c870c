% A warning has file, line and caret; pragmas switch it off for a part of the file.
x = 5
n = 3
print 1<x<3, " ", x==1==0, " ", (1<x)<3
print [1 -2], " ", [1 - 2], " ", [1-2], " ", [1 +(2 -3)], " ", numel({1 -x})
{!warnings off}
print 1<x<3
{!warnings on}
print 7 % 2
print x % n
print x % n is not what is meant
width = x % width
if x % 2 == 1
    print "odd"
end
z = [10,20,30]
print z[1.9], z[1]
function y = f(x)
    {!warnings off}
    y = [x -1]
end
print f(2)
