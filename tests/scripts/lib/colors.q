% tolerance: 1e-4
import "colortransform.q"
px = (r,g,b) -> reshape([r,g,b], [1,1,3])
flat = x -> reshape(x, [3])
print rgb2gray(px(100,200,50)), " ", flat(rgb2ycbcr(px(1,0,0))), " ", flat(rgb2hsv(px(0.2,0.4,0.1)))
print flat(rgb2lab(px(1,1,1))), " ", flat(rgb2lab(px(0.5,0.2,0.8))), " ", flat(rgb2xyz(px(1,0,0)))
randseed(2)
img = rand(8,9,3)
near = (a,b) -> max(abs(a-b)) < 1e-4
print near(hsv2rgb(rgb2hsv(img)), img), near(lab2rgb(rgb2lab(img)), img), near(ycbcr2rgb(rgb2ycbcr(img)), img), near(xyz2rgb(rgb2xyz(img)), img)
print near(csdecodeSRGB(csencodeSRGB(img)), img), near(csdecodeRec709(csencodeRec709(img)), img), near(csdecodeRec2020(csencodeRec2020(img)), img)
print csencodeSRGB(0.5), " ", csdecodeSRGB(0.5), " ", csencodeSRGB([0, 0.001, 1]), " ", csencodeRec709(0.18)
% A grey image is its own luma, in a new array
g = [[1,2],[3,4]]
y = rgb2gray(g)
y[0,0] = 9
print g, " ", y, " ", type(rgb2gray(uint8(g))), " ", rgb2gray(float64([0.1,0.7]))
% Slopes agree with differences, and infinite light has an infinite code value
x = 0.1 + 0.8*float64(rand(2,3,3))
w = float64(rand(2,3,3))
step = float64(rand(2,3,3)) - 0.5
for f = {rgb2lab, lab2rgb, rgb2ycbcr, rgb2xyz, v -> rgb2gray(v).*ones(2,3), csdecodeSRGB, csencodeRec709, csdecodeRec709}
    loss = v -> sum(f(v).*w[0..1,0..2,0..size(f(v),2)-1])
    print abs(sum(grad(loss, x).*step) - (loss(x + 1e-6*step) - loss(x - 1e-6*step))/2e-6) < 1e-6
end
print csencodeSRGB([inf,nan]), csencodeRec709([inf,nan])
print csdecodeSRGB([inf,nan]), csdecodeRec709([inf,nan])
