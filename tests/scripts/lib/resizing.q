% tolerance: 1e-4
import "imresize.q"
x = [[0,1,2,3]]
print imresize([[0,10],[20,30]], 2, "nearest")
print imresize(x, [1,8], "bilinear"), " ", imresize(x, 0.5), " ", imresize([0,2,4,6], [1,2], "nearest")
print size(imresize(ones(10,7,3), 0.5)), " ", size(imresize(ones(10,7), [3,4], "bicubic")), " ", size(imresize(ones(3,3), 1))
print max(abs(imresize(5*ones(9,9), [4,17], "bicubic") - 5)) < 1e-5
r = reshape(0..15, [4,4])
print max(abs(imresize(imresize(r, 4), 0.25)[1..2,1..2] - r[1..2,1..2])) < 1e-4
% Names of MATLAB, and masks of its other methods: a row of 4 pixels enlarged and reduced
print isequal(imresize(r, 3, "cubic"), imresize(r, 3, "bicubic")), isequal(imresize(r, 3, "triangle"), imresize(r, 3))
print imresize(x, [1,8], "box"), " ", imresize(r, 0.5, "box")
for method = {"box", "lanczos2", "lanczos3"}
    print max(abs(imresize(5*ones(9,9), [4,17], method) - 5)) < 1e-5, " ", size(imresize(ones(10,7,3), 0.5, method))
end
line = float64(0..19)
n = t -> where(t == 0, 1, sin(pi*t)./(pi*where(t == 0, 1, t)))
at = float64(2..4) + float64([0,0,0]) % pixel 6 of the double size is at 2.75
w = n(float64(-2..3) - 0.75 + float64(0)).*n((float64(-2..3) - 0.75)/3)
print max(abs(imresize(line.^2, [1,40], "lanczos3")[6] - sum(w.*float64(0..5).^2)/sum(w))) < 1e-12
