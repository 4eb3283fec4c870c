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
