% Steps of diffusion on the interior of an image.
import "../inputs.q"
function u = inputs(n)
    u = field(n, n)
end
function u = smooth_steps(u)
    u = copy(u)
    n = size(u, 0)
    for t = 1..20
        u[1..n-2,1..n-2] = u[1..n-2,1..n-2] + 0.2*(u[0..n-3,1..n-2] + u[2..n-1,1..n-2] + u[1..n-2,0..n-3] + u[1..n-2,2..n-1] - 4*u[1..n-2,1..n-2])
    end
end
