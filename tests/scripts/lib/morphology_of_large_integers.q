% Erosion and dilation give values of the image, also by a mask that is no rectangle.
corner = [[0,1],[1,0]]
x = int([[16777217,16777219],[16777221,16777223]])
print imerode(x, corner), " ", imdilate(x, corner)
print imerode(int64([[2^53,3],[4,5]]), corner)
print imdilate(uint8([[1,200],[3,4]]), corner)
try
    print imerode(uint64([[2^60,3],[4,5]]), corner)
catch e
    print e
end
print imerode(uint64([[2^60,3],[4,5]]), ones(2,2))
