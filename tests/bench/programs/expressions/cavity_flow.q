% Flow below a moving lid: twenty steps, ten of the pressure in each
function n = inputs(size)
    n = size
end
function [u, v, p] = cavity_flow(n)
    u = zeros(n, n)
    v = zeros(n, n)
    p = zeros(n, n)
    b = zeros(n, n)
    h = 2/(n - 1)
    dt = h^2
    for t = 1..20
        du = (u[1..n-2,2..n-1] - u[1..n-2,0..n-3])/(2*h)
        dv = (v[2..n-1,1..n-2] - v[0..n-3,1..n-2])/(2*h)
        b[1..n-2,1..n-2] = (du + dv)/dt - du.^2 - dv.^2
        for q = 1..10
            p[1..n-2,1..n-2] = (p[1..n-2,2..n-1] + p[1..n-2,0..n-3] + p[2..n-1,1..n-2] + p[0..n-3,1..n-2] - h^2*b[1..n-2,1..n-2])/4
            p[:,n-1] = p[:,n-2]
            p[0,:] = p[1,:]
            p[:,0] = p[:,1]
            p[n-1,:] = 0
        end
        un = copy(u)
        vn = copy(v)
        uc = un[1..n-2,1..n-2]
        vc = vn[1..n-2,1..n-2]
        u[1..n-2,1..n-2] = uc - dt/h*(uc.*(uc - un[1..n-2,0..n-3]) + vc.*(uc - un[0..n-3,1..n-2])) - dt/(2*h)*(p[1..n-2,2..n-1] - p[1..n-2,0..n-3]) + 0.1*dt/h^2*(un[1..n-2,2..n-1] + un[1..n-2,0..n-3] + un[2..n-1,1..n-2] + un[0..n-3,1..n-2] - 4*uc)
        v[1..n-2,1..n-2] = vc - dt/h*(uc.*(vc - vn[1..n-2,0..n-3]) + vc.*(vc - vn[0..n-3,1..n-2])) - dt/(2*h)*(p[2..n-1,1..n-2] - p[0..n-3,1..n-2]) + 0.1*dt/h^2*(vn[1..n-2,2..n-1] + vn[1..n-2,0..n-3] + vn[2..n-1,1..n-2] + vn[0..n-3,1..n-2] - 4*vc)
        u[n-1,:] = 1
    end
end
