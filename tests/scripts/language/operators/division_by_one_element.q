% Like *, / treats an array of one element as a number; other shape mismatches are errors that say what to write.
a = [[1,2],[3,4]]
print a/[[2]], [[12]]/a, a/[2], [6]/[1,2,3]
a /= [[2]]
print a
function s = quotients(x, y)
    s = 0*x
    for k = 0..2
        s = s + x/y
    end
end
print quotients([2,4], [2])
print grad(b -> sum([1,2]/b), [[2]])
print grad(a -> sum(a/[[2]]), [1,2])
try
    print a/[1,2]
catch e
    print e
end
print [[1,2],[3,4]]*[[2]]
try
    print [[1,2],[3,4]]*[1,2]
catch e
    print e
end
