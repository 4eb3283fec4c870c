% Sums of all that is above and to the left
import "../inputs.q"
function x = inputs(n)
    x = field(n, n)
end
function s = integral_image(x)
    [h, w] = size(x)
    s = zeros(h + 1, w + 1)
    for i = 0..h-1
        row = 0
        for j = 0..w-1
            row += x[i,j]
            s[i+1,j+1] = s[i,j+1] + row
        end
    end
end
