% The wavelet transform of Haar, of rows and columns, in three levels
import "../inputs.q"
function x = inputs(n)
    x = field(n, n)
end
function y = haar(x)
    n = size(x, 0)
    y = copy(x)
    t = zeros(n)
    for level = 1..3
        h = n/2
        for i = 0..n-1
            for j = 0..h-1
                t[j] = (y[i,2*j] + y[i,2*j+1])/2
                t[h+j] = (y[i,2*j] - y[i,2*j+1])/2
            end
            for j = 0..n-1
                y[i,j] = t[j]
            end
        end
        for j = 0..n-1
            for i = 0..h-1
                t[i] = (y[2*i,j] + y[2*i+1,j])/2
                t[h+i] = (y[2*i,j] - y[2*i+1,j])/2
            end
            for i = 0..n-1
                y[i,j] = t[i]
            end
        end
        n = h
    end
end
