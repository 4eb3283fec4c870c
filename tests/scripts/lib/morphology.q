import "immorphology.q"
A = zeros(5,5)
A[2,2] = 1
print imdilate(A, ones(3,3))
print imerode(imdilate(A, ones(3,3)), ones(3,3))
print imdilate(A, [[1,0,0]], [0,0])[2,:], imdilate(A, [[1,1,0]], [0,0])[2,:]
print sum(imopen(A, ones(3,3))), " ", sum(imclose(imdilate(A, ones(3,3)), ones(3,3)))
print imerode([3,1,2], [1,1,1]), imdilate([3,1,2], [1,1,1]), size(imerode(ones(4,4,3), ones(2,2)))
try
    print imerode(ones(4,4), ones(3,3), [3,3])
catch e
    print e
end
% The result has the type of the image, for rectangles and other masks.
randseed(2)
x = floor(100*rand(9,8))
cross = [[0,1,0],[1,1,1],[0,1,0]]
wrong = 0
for f = {uint8, int8, int16, uint16, int32, int64, float16, float64, u -> u}
    for mask = {ones(3,3), ones(2,4), cross, [[1,0,1]]}
        for g = {imerode, imdilate, imopen, imclose}
            y = g(f(x), mask)
            wrong += type(y) != type(f(x)) || any(y != g(x, mask))
        end
    end
end
print "wrong ", wrong, ", ", type(imdilate(x > 90, cross)), type(imopen(x > 90)), sum(imdilate(x > 97) != (imdilate(x) > 97))
for g = {() -> imerode("text"), () -> imclose([1j,2]), () -> imopen(zeros(2,2,2,2))}
    try
        g()
    catch e
        print e
    end
end
