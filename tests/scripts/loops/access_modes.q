% options: --loops always
x = [1,2,3,4]
function s = gather(x : vec'mirror, y : vec'circular, z : vec'clamped, w : vec'safe)
    s = 0
    for i=-6..9
        s = s*1.5 + x[i] + 10*y[i] + 100*z[i] + 1000*w[i]
    end
end
printf("%.4f\n", gather(x, x, x, x))

im = zeros(6,7)
for [m,n]=0..size(im)-1
    im[m,n] = m*7 + n
end
function out = blur(im : mat'mirror)
    out = zeros(size(im))
    for m=0..size(im,0)-1
        for n=0..size(im,1)-1
            s = 0
            for i=-1..1
                for j=-1..1
                    s += im[m+i,n+j]
                end
            end
            out[m,n] = s/9
        end
    end
end
b = blur(im)
printf("%.4f %.4f %.4f\n", b[0,0], b[3,3], b[5,6])
