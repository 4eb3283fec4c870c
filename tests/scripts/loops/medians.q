% options: --loops always --explain
% Medians of a few elements, and blocks that reshape makes a vec.
function y = filter(x, r)
    y = float64(zeros(size(x)))
    n = (2*r+1)^2
    for i = r..size(x,0)-1-r
        for j = r..size(x,1)-1-r
            y[i,j] = median(reshape(x[i-r..i+r, j-r..j+r], n))
        end
    end
end
function y = along(x : vec'mirror)
    y = float64(zeros(numel(x)))
    for i = 0..numel(x)-1
        y[i] = median(x[i-2..i+2]) + median(x[i..i+1]) + median(x[i..i+3])/8
    end
end
function y = pooled(x)
    y = float64(zeros(size(x,0)/2, size(x,1)/2))
    for i = 0..size(y,0)-1
        for j = 0..size(y,1)-1
            b = reshape(x[2*i..2*i+1, 2*j..2*j+1], [1,4])
            y[i,j] = median(b) + 100*b[2] + 10000*size(b,1)
        end
    end
end
x = reshape(mod((0..41)*17, 43), [6,7])
print filter(x, 1)
print filter(x > 20, 1)[1,:]
print filter(uint8(x), 2)[2,:]
x[2,2] = 0/0
print filter(x, 1)[1,:]
print along([3,1,4,1,5,9,2,6]/10), pooled(x[:,0..5]), pooled(int(reshape(0..15,[4,4])))
z = [-0.0,0,-0.0,-0.0,0,0]
printf("%g %g %g", median(z), median(z[0..2]), 1/along(z)[1])
y = zeros(3)
for i = 0..2
    y[i] = 1/median([z[i],-0.0,z[2*i]])
end
print y
% more elements than are compiled in, and columns
for i = 0..1
    y[i] = median(x[i+3,:]) + median(median(x[0..1,0..2]))
end
print y
