% Two programs as in the documentation of MATLAB: grains on an uneven background are counted, and lines of a road are
% found.
[c, r] = meshgrid(float64(0..255), float64(0..199))
I = 110 - r/4
k = 0
for a = 20..30..180
    for b = 20..36..240
        k += 1
        u = (r-a)*cos(0.7*k) + (c-b)*sin(0.7*k)
        v = (c-b)*cos(0.7*k) - (r-a)*sin(0.7*k)
        I = (u/4).^2 + (v/11).^2 < 1 ? I + 90 : I
    end
end
I = round(I + 4*sin(12.9898*r + 78.233*c))

background = imopen(I, strel("disk", 15))
I2 = imadjust(I - background)
bw = bwareaopen(imbinarize(I2), 50)
[labels, n] = bwlabel(bw, 4)
s = regionprops(labels, I, "Area", "Centroid", "MeanIntensity", "Solidity")
print n, " of ", k, ", areas ", min(s.Area), " to ", max(s.Area), ", ", all(s.Solidity > 0.85)
picture = imoverlay(label2rgb(labels, "spring", "c", "shuffle"), bwperim(bw), "k")
print size(picture), " ", max(picture)

% Two lines that meet at row 80, one of them with gaps.
I = 90 + 0*c
for lane = {[60,150],[200,155]}
    x = lane[1] + (lane[0]-lane[1])*(r-80)/119
    I = abs(c - x) < 3 && r > 80 && (lane[0] > 100 || mod(r, 30) < 20) ? 230 : I
end
bw = edge(rgb2gray(cat(2, I, I, I)), "canny") && inpolygon(c, r, [10,140,190,250], [197,81,81,197])
[H, theta, rho] = hough(bw)
p = houghpeaks(H, 2, "threshold", ceil(0.3*max(H)), "NHoodSize", [41,21])
lines = houghlines(bw, theta, rho, p, "FillGap", 25, "MinLength", 40)
for k = 0..numel(lines.theta)-1
    print lines.point1[k,:], " to ", lines.point2[k,:], ", ", lines.theta[k], " degrees"
end
