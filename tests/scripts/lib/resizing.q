% tolerance: 1e-4
import "imresize.q"
x = [[0,1,2,3]]
print imresize([[0,10],[20,30]], 2, "nearest")
print imresize(x, [1,8], "bilinear"), " ", imresize(x, 0.5), " ", imresize([0,2,4,6], [1,2], "nearest")
print size(imresize(ones(10,7,3), 0.5)), " ", size(imresize(ones(10,7), [3,4], "bicubic")), " ", size(imresize(ones(3,3), 1))
print max(abs(imresize(5*ones(9,9), [4,17], "bicubic") - 5)) < 1e-5
r = reshape(0..15, [4,4])
print max(abs(imresize(imresize(r, 4), 0.25)[1..2,1..2] - r[1..2,1..2])) < 1e-4
