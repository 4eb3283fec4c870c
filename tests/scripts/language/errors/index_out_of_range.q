% exit: 1
function y = third(x)
    y = x[2]
end
function y = caller(a)
    y = third(a) + 1
end
print "before"
print caller([1,2])
