% Waves of an electric and a magnetic field on a grid
import "../inputs.q"
function [ex, ey, hz] = inputs(n)
    ex = field(n, n)
    ey = field(n, n, 53)
    hz = field(n, n, 71)
end
function [ex, ey, hz] = fdtd_2d(ex, ey, hz)
    n = size(ex, 0)
    ex = copy(ex)
    ey = copy(ey)
    hz = copy(hz)
    for t = 0..9
        for j = 0..n-1
            ey[0,j] = t
        end
        for i = 1..n-1
            for j = 0..n-1
                ey[i,j] -= 0.5*(hz[i,j] - hz[i-1,j])
            end
        end
        for i = 0..n-1
            for j = 1..n-1
                ex[i,j] -= 0.5*(hz[i,j] - hz[i,j-1])
            end
        end
        for i = 0..n-2
            for j = 0..n-2
                hz[i,j] -= 0.7*(ex[i,j+1] - ex[i,j] + ey[i+1,j] - ey[i,j])
            end
        end
    end
end
