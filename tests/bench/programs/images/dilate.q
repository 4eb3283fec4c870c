% The largest of nine neighbours, five times
import "../inputs.q"
function x = inputs(n)
    x = field(n, n)
end
function x = dilate(x)
    [h, w] = size(x)
    for t = 1..5
        y = copy(x)
        for i = 1..h-2
            for j = 1..w-2
                m = x[i,j]
                for a = -1..1
                    for b = -1..1
                        m = max(m, x[i+a,j+b])
                    end
                end
                y[i,j] = m
            end
        end
        x = y
    end
end
