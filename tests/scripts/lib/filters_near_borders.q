% Filters of images whose border is computed apart, or copied first, against the valid part of a convolution with the
% extended image.
% devices: cpu ref
import "imfilter.q"
worst = 0
for dims = {[5,7], [32,32], [3,40], [1,9], [70,65], [40,33,3]}
    for k = {[3,3], [1,7], [9,1], [4,6], [15,15]}
        x = mod(reshape((0..prod(dims)-1).^2.*7, dims), 251)/251
        m = cos(reshape(0..prod(k)-1, k).*1.7)
        for mode = {"mirror", "reflect", "circular", "clamped", "zeros"}
            y = imfilter(x, m, [], mode)
            e = bound_extension(float64(x), k[0], k[1], mode)
            c = int((k-1)/2)
            for channel = 0..size(x,2)-1
                full = conv2(e[:,:,channel], float64(m), "full")
                wanted = full[k[0]+c[0]..k[0]+c[0]+size(x,0)-1, k[1]+c[1]..k[1]+c[1]+size(x,1)-1]
                worst = max([worst, max(abs(y[:,:,channel] - wanted))])
            end
        end
    end
end
print worst < 1e-4
for n = [20,200] % with and without the copy: a number that is not finite reaches the pixels around it, and no other
    x = ones(n,n)
    x[3,3] = nan
    x[10,n-1] = inf
    print sum(isnan(imfilter(x, ones(3,3)))), " ", sum(isnan(imfilter(x, ones(9,9)))), " ", sum(imfilter(x, ones(3,3)) == inf)
end

% nan is larger than every number.
x = [[1,2,3],[4,nan,6],[7,8,9]]
print ordfilt2(x, 8)[1,1], " ", ordfilt2(x, 7)[1,1], " ", ordfilt2(x, 0)[1,1]
