import "radon.q"
function x = blob(rows, cols, right, up, s)
    [c, r] = meshgrid((0..cols-1) - (cols-1)/2, (0..rows-1) - (rows-1)/2)
    x = exp(-((c-right).^2 + (r+up).^2)/(2*s^2))
end
angles = 0..15..165
x = blob(31, 41, 5, 3, 2.5) + 2*blob(31, 41, -4, -5, 2)
y = radon(x, angles)
s = transpose(0..size(y,0)-1) - (size(y,0)-1)/2
line = (right, up, w) -> sqrt(2*pi)*w*exp(-(s - right*cos(angles*pi/180) - up*sin(angles*pi/180)).^2/(2*w^2))
print size(y), " ", max(abs(y - line(5,3,2.5) - 2*line(-4,-5,2))) < 0.02*max(y), " ", max(abs(sum(y,0)/sum(x) - 1)) < 1e-3

x = float64(blob(41, 41, 5, 3, 4) + 2*blob(41, 41, -4, -5, 4.5))
back = iradon(radon(x), n:=41)
print type(back), " ", max(abs(back - x)) < 0.05, " ", abs(mean(back)/mean(x) - 1) < 0.01, " ", size(iradon(radon(x, [0,45,90,135]), [0,45,90,135]))
print size(radon(zeros(1,1))), sum(radon(ones(4,6), [0,90])), " ", radon(ones(2,2), [0])
try
    iradon(y)
catch e
    print e
end

% The rows of a projection, and filters of the ramp: weaker high frequencies leave less of the noise of an edge.
[y, r] = radon(x, [0,90])
print size(r) == [1,size(y,0)], r[0] + r[numel(r)-1], diff(r)[0]
square = float64(zeros(41,41))
square[15..25,15..25] = 1
lines = radon(square)
for filter = {"ram-lak","shepp-logan","cosine","hamming","hann","none"}
    back = iradon(lines, n:=41, filter:=filter)
    print filter, " ", round(100*max(back)), " ", round(1000*mean(back))
end
for filter = {"linear","han"}
    try
        filter == "han" ? iradon(lines, n:=41, filter:=filter) : iradon(lines, 0..179, filter)
    catch e
        print e
    end
end
