% Means of 11x11 neighbours, fewer at the edges, from sums of all that is above and to the left
import "../inputs.q"
function x = inputs(n)
    x = field(n, n)
end
function y = box_sums(x)
    n = size(x, 0)
    s = zeros(n + 1, n + 1)
    for i = 0..n-1
        for j = 0..n-1
            s[i+1,j+1] = x[i,j] + s[i,j+1] + s[i+1,j] - s[i,j]
        end
    end
    y = zeros(n, n)
    for i = 0..n-1
        for j = 0..n-1
            a = max(i - 5, 0)
            b = min(i + 6, n)
            c = max(j - 5, 0)
            d = min(j + 6, n)
            y[i,j] = (s[b,d] - s[a,d] - s[b,c] + s[a,c])/((b - a)*(d - c))
        end
    end
end
