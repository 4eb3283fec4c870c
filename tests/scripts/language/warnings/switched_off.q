% options: --no-warnings
x = 5
print 1<x<3, [1 -2]
if [1,1]
    print "all"
end
