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
