% An image of 8 channels and kernels of 3x3, to 8 channels, by slices
import "../inputs.q"
function [x, w] = inputs(n)
    x = reshape(pattern(8*n*n, 37, 1021), [8,n,n])
    w = reshape(pattern(8*8*9, 53, 1021), [8,8,9]) - 0.5
end
function y = convolution_layer(x, w)
    n = size(x, 1)
    y = zeros(8, n-2, n-2)
    for o = 0..7
        s = zeros(n-2, n-2)
        for c = 0..7
            for k = 0..8
                i = floor(k/3)
                j = mod(k, 3)
                s += w[o,c,k]*reshape(x[c,i..n-3+i,j..n-3+j], [n-2,n-2])
            end
        end
        y[o,:,:] = reshape(max(s, 0), [1,n-2,n-2])
    end
end
