import "imresize.q"
print size(gaussian_filter(imresize(ones(4,4), 2), 1)), " ", imfilter([1,2,3], [1], [0,0])
