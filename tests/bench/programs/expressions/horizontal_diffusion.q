% Diffusion with limited fluxes on sixteen levels
import "../inputs.q"
function x = inputs(n)
    x = reshape(pattern(16*n*n, 37, 1021), [16,n,n])
end
function y = horizontal_diffusion(x)
    n = size(x, 1)
    lap = 4*x[:,1..n-2,1..n-2] - x[:,2..n-1,1..n-2] - x[:,0..n-3,1..n-2] - x[:,1..n-2,2..n-1] - x[:,1..n-2,0..n-3]
    m = n - 2
    fx = lap[:,1..m-1,1..m-2] - lap[:,0..m-2,1..m-2]
    fx = fx.*(x[:,2..n-2,2..n-3] - x[:,1..n-3,2..n-3]) > 0 ? 0 : fx
    fy = lap[:,1..m-2,1..m-1] - lap[:,1..m-2,0..m-2]
    fy = fy.*(x[:,2..n-3,2..n-2] - x[:,2..n-3,1..n-3]) > 0 ? 0 : fy
    y = x[:,2..n-3,2..n-3] - 0.1*(fx[:,1..m-2,:] - fx[:,0..m-3,:] + fy[:,:,1..m-2] - fy[:,:,0..m-3])
end
