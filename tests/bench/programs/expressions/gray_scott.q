% Two substances that react and diffuse, with the circular shift of whole arrays
import "../inputs.q"
function [u, v] = inputs(n)
    u = field(n, n)
    v = 0.5*field(n, n, 53)
end
function d = laplacian(x)
    d = circshift(x, [1,0]) + circshift(x, [-1,0]) + circshift(x, [0,1]) + circshift(x, [0,-1]) - 4*x
end
function [u, v] = gray_scott(u, v)
    for t = 1..10
        r = u.*v.^2
        un = u + 0.16*laplacian(u) - r + 0.035*(1 - u)
        v = v + 0.08*laplacian(v) + r - 0.1*v
        u = un
    end
end
