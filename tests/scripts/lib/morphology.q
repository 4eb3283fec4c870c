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
