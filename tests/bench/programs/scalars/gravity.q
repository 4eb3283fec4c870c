% Ten steps of bodies that attract each other
import "../inputs.q"
function [p, v] = inputs(n)
    p = field(n, 3)
    v = zeros(n, 3)
end
function p = gravity(p, v)
    p = copy(p)
    v = copy(v)
    n = size(p, 0)
    for t = 1..10
        for i = 0..n-1
            ax = 0
            ay = 0
            az = 0
            for j = 0..n-1
                dx = p[j,0] - p[i,0]
                dy = p[j,1] - p[i,1]
                dz = p[j,2] - p[i,2]
                r = dx*dx + dy*dy + dz*dz + 0.01
                w = 1/(r*sqrt(r))
                ax += dx*w
                ay += dy*w
                az += dz*w
            end
            v[i,0] += 0.0001*ax
            v[i,1] += 0.0001*ay
            v[i,2] += 0.0001*az
        end
        for i = 0..n-1
            for k = 0..2
                p[i,k] += 0.01*v[i,k]
            end
        end
    end
end
