import "immorphology.q"
print size(gaussian_filter(imdilate(ones(4,4)), 1)), " ", imfilter([1,2,3], [1], [0,0])
