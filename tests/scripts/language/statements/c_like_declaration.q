int pw = 5.7
print pw
scalar s = 3
print s
img : cube
img = ones(1,1,2)
print numel(img)
