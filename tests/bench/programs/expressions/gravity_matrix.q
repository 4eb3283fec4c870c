% Forces between all bodies as matrices of differences
import "../inputs.q"
function p = inputs(n)
    p = field(3, n)
end
function a = gravity_matrix(p)
    dx = p[0,:] - transpose(p[0,:])
    dy = p[1,:] - transpose(p[1,:])
    dz = p[2,:] - transpose(p[2,:])
    w = (dx.^2 + dy.^2 + dz.^2 + 0.01).^(-1.5)
    a = vertcat(transpose(sum(dx.*w, 1)), transpose(sum(dy.*w, 1)), transpose(sum(dz.*w, 1)))
end
