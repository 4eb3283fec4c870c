h = zeros(2,3,2,2)
h[1,2,1,1] = 5
print size(h), " ", sum(h), " ", h[1,2,1,1], " ", ndims(h)
print type(h), " ", type(h, "cube{:}"), type(h, "cube{4}"), type(h, "cube")
x = ones(2,2,2,2,2,2,2,2)
print numel(x)
print sum(x[0,:,1,:,0,0,0,0])
