% An array as condition is true if all its elements are; each location warns once.
x = [5,6,7,8]
for i = 0..2
    if x == 3
        print "all are 3"
    end
end
while x > 4
    break
end
repeat
    k = 0
until x
if !(x > 5) || x[0] > 7
    print "none"
end
if [7] == 7
    print "one element is a number"
end
print x > 3 ? "all" : "not all"
