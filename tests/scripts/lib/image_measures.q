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

% Regions of masks with many branches, against labels that spread to neighbours until nothing changes
wrong = 0
for [share, rows, cols] = {[0.3,9,14], [0.55,23,17], [0.7,20,1], [0.6,1,20], [0.5,31,30]}
    mask = mod((0..rows*cols-1).^2.*17 + (0..rows*cols-1).*5, 101) < 101*share
    mask = reshape(mask, [rows,cols])
    for neighbours = [4,8]
        [labels, n] = bwlabel(mask, neighbours)
        framed = zeros(rows+2, cols+2)
        framed[1..rows,1..cols] = mask.*reshape(rows*cols-(0..rows*cols-1), [rows,cols])
        before = 0*framed
        while any(before != framed)
            before = copy(framed)
            for i = -1..1
                for j = -1..1
                    if neighbours == 8 || i == 0 || j == 0
                        near = before[1+i..rows+i,1+j..cols+j]
                        framed[1..rows,1..cols] = mask.*max(framed[1..rows,1..cols], near)
                    endif
                end
            end
        end
        roots = -unique(-framed[framed > 0])
        wrong += n != numel(roots)
        for k = 1..n
            wrong += !isequal(labels == k, framed[1..rows,1..cols] == roots[k-1])
        end
    end
end
print wrong
