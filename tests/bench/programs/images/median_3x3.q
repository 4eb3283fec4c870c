% The middle of nine neighbours, by sorting them
import "../inputs.q"
function x = inputs(n)
    x = field(n, n)
end
function y = median_3x3(x)
    n = size(x, 0)
    y = copy(x)
    w = zeros(9)
    for i = 1..n-2
        for j = 1..n-2
            for k = 0..8
                v = x[i - 1 + floor(k/3), j - 1 + mod(k, 3)]
                m = k
                while m > 0 && w[m-1] > v
                    w[m] = w[m-1]
                    m -= 1
                end
                w[m] = v
            end
            y[i,j] = w[4]
        end
    end
end
