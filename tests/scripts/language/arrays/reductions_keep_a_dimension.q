m = [[1,2,3],[4,5,6]]
print sum(m), " ", sum(m,0), " ", sum(m,1)
print mean(m), " ", mean(m,0), " ", prod([2,3,4])
print min(m), max(m), " ", min([1,5],[3,2]), " ", max(3,[1,5])
print any([0,0,1]), all([1,0]), " ", cumsum([1,2,3],1)
c = ones(2,2,3)
print size(sum(c,2)), " ", size(mean(c,0))
print type(sum(c,2))
