print [1,2,3]
print [[1,2],[3,4]]
print [[[1,2],[3,4]],[[5,6],[7,8]]]
print size([[[1,2],[3,4]],[[5,6],[7,8]]])
print numel([]), isempty([])
print [[1,2,3], 4..6]
print [0.1..0.1..0.5]
print numel([0..3])
