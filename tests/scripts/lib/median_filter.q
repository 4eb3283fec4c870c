import "immedfilt.q"
A = [[1,2,3],[4,100,6],[7,8,9]]
print immedfilt(A), " ", immedfilt(A, 0), " ", immedfilt([5,1,4,2], 1)
print size(immedfilt(ones(5,6,3), 2)), max(immedfilt(ones(5,6,3), 2))
