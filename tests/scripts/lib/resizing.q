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

% Channels, types, odd sizes, against the definition: weights of a triangle as wide as the step, over the nearest samples
function y = triangle_resized(x, to)
    n = size(x,0)
    step = n/to
    width = max(step, 1)
    y = zeros(to, size(x,1))
    for p = 0..to-1
        at = (p+0.5)*step - 0.5
        [total, weights] = {zeros(1, size(x,1)), 0}
        for k = ceil(at-width)..floor(at+width)
            w = max(1 - abs(k-at)/width, 0)
            total = total + w*x[clamp(k, 0, n-1),:]
            weights += w
        end
        y[p,:] = total/weights
    end
end
worst = 0
for to = {[9,40],[23,5],[1,1],[7,11]}
    x = mod(reshape(0..7*11*3-1, [7,11,3]).*37, 256)
    y = imresize(x, to)
    for c = 0..2
        wanted = transpose(triangle_resized(transpose(triangle_resized(x[:,:,c], to[0])), to[1]))
        others = [max(abs(imresize(uint8(x[:,:,c]), to) - wanted)), max(abs(imresize(float64(x), to)[:,:,c] - wanted))]
        worst = max([worst, max(abs(y[:,:,c] - wanted)), max(others)])
    end
end
print worst < 1e-3
for method = {"box", "bilinear", "bicubic"} % derivatives of both dimensions, with channels
    f = x -> sum(imresize(x, [7,4], method).^2)
    print gradcheck(f, float64(rand(5,6,2))), gradcheck(f, float64(rand(9,3)))
end
