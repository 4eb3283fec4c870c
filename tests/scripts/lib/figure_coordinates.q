% needs: figures
% devices: one
% An image at coordinates: limits, ticks, directions and the colours of single pixels.
function [] = fails(f)
    try
        f()
        print "nothing is wrong"
    catch e
        print e
    end
end
img = reshape(0..11, [3,4])
print imagesc([10,13], [0.5,1.5], img)
print imagesc(linspace(-1,2,4), [3,2,1], img, [0,20])
print imagesc([0,3], [0,2], img)
print imagesc([5,8], [7], reshape(0..3, [1,4]))
% The coordinates of an image that is replaced under hold are those of the new one.
hold("on")
print imagesc([0,1], 0, reshape(0..3, [1,4]))
print imagesc(reshape(0..3, [1,4]))
hold("off")

% The first row is at the top with y downwards, and at the bottom after axis("xy"); descending coordinates mirror.
function p = corners(x, y, direction)
    figure()
    h = imagesc(x, y, [[0,1],[2,3]])
    colormap("gray")
    axis(direction)
    axis("off")
    p = h.rasterize()[[20,235],:,0][:,[20,235]]
end
print corners([0,1], [0,1], "ij")
print corners([0,1], [0,1], "xy")
print corners([1,0], [0,1], "ij")
print corners([0,1], [1,0], "xy")

% axis("image") gives both axes the same unit.
figure()
h = imagesc([0.5,1.5], [0.5,3.5], ones(4,2), [1,2])
axis("image")
page = float(h.rasterize())
dark = page[:,:,2] > page[:,:,1]+40 && page[:,:,0] < 90
[r, c] = [sum(max(float(dark), [], 1)), sum(max(float(dark), [], 0))]
print abs(r/c-2) < 0.05, r > 400

fails(() -> imagesc([1,2,3], [0,2], img))
fails(() -> imagesc([0,3], 1, img))
fails(() -> imagesc([0,1,2,4], [0,2], img))
fails(() -> imagesc([2,2], [0,2], img))
fails(() -> imagesc([0,nan], [0,2], img))
fails(() -> imagesc([0,3], [0,inf], img))
fails(() -> imagesc([0,3], "y", img))
fails(() -> imagesc([0,3], [0,2], img, 5))
fails(() -> imagesc([0,1], 7, ones(1,1)))
