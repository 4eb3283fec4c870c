% tolerance: 1e-5
import "imanalysis.q"
x = [[9,0,9,0],[0,9,0,0],[0,0,0,9],[9,9,0,9]]
[l, n] = bwlabel(x)
print n, " ", l
[l, n] = bwlabel(x > 1, 4)
print n, " ", l
[l, n] = bwlabel(zeros(2,2))
print n, " ", l
u = [[1,0,1],[1,0,1],[1,1,1]]       % two branches that meet below
[l, n] = bwlabel(u)
print n, " ", l
t = graythresh([10,11,12,200,201,202])
print t > 12 && t < 200, " ", type(graythresh(uint8([[1,2],[200,201]])))
[m, d] = imgradient([[0,0,0],[0,0,0],[1,1,1]])
print m[1,1], " ", d[1,1], " ", type(imgradient(float64(x)))
print psnr([1,2], [2,1]), " ", psnr([0,1], [1,0], 1)
function d = nearest(x)                 % by definition
    d = zeros(size(x))
    p = find(x)
    for i = 0..size(x,0)-1
        for j = 0..size(x,1)-1
            d[i,j] = sqrt(min((p[:,0]-i).^2 + (p[:,1]-j).^2))
        end
    end
end
randseed(2)
for share = [0.02,0.3]
    x = rand(17,23) < share
    print max(abs(bwdist(x) - nearest(x))) < 1e-6, " ", bwdist(transpose(x))[4,5] == bwdist(x)[5,4]
end
print bwdist([0,0,3,0]), bwdist([[0],[0]]), bwdist([]), type(bwdist(float64([1,0])))
y = 255*rand(20,24)
print ssim(y, y), " ", ssim(y, 255-y) < 0, " ", abs(ssim(y+10*randn(20,24), y) - 0.98) < 0.02, " ", abs(ssim(y, y+5) - ssim(y/255, (y+5)/255, 1)) < 1e-6
a = float64(100*ones(3,3))              % without variance: the first factor alone
print abs(ssim(a, a+50) - (2*100*150 + 2.55^2)/(100^2 + 150^2 + 2.55^2)) < 1e-9
