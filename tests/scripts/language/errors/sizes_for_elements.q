% vec[uint8]([200,100]) asks for zeros of 200x100, which is not a vec: uint8([200,100]) was meant.
function [] = try_it(f)
    try
        print f()
    catch e
        print e
    end
end
sizes = [2,3]
try_it(() -> vec[uint8]([200,100]))
try_it(() -> vec(sizes))
try_it(() -> mat[int]([[1,2],[3,4]]))
try_it(() -> vec[mat]([2,3]))
print size(mat([2,3])), size(vec([1,4])), size(vec(4)), size(cube[uint8]([1,2,3]))
print size(vec(size(zeros(2,3)))), size(mat(size(zeros(2,2,3)))), size(vec[int](size(zeros(1,5))))
