% isosurface: area, volume and orientation of surfaces; each edge of a closed surface belongs to two triangles.
import "isosurface.q"

% Volume inside the surface, by the divergence theorem: positive if the triangles are counterclockwise from outside.
function [area, volume] = measure(f, v)
    a = float64(v[f[:,0],:])
    b = float64(v[f[:,1],:])
    c = float64(v[f[:,2],:])
    n = cross(b - a, c - a)
    area = sum(sqrt(sum(n.^2, 1)))/2
    volume = sum(a.*n)/6
end

% Whether each edge of a triangle occurs once in the other direction.
function y = is_closed(f, v)
    n = size(v, 0)
    from = float64(reshape(horzcat(f[:,0], f[:,1], f[:,2]), [1,-1]))
    to = float64(reshape(horzcat(f[:,1], f[:,2], f[:,0]), [1,-1]))
    y = isequal(sort(from*n + to), sort(to*n + from)) && numel(unique(from*n + to)) == numel(from)
end

n = 40
[x, y, z] = meshgrid(0..n-1, 0..n-1, 0..n-1)
[f, v] = isosurface(15.3 - sqrt((x-19.2).^2 + (y-20.1).^2 + (z-18.7).^2))
[area, volume] = measure(f, v)
printf("sphere: area %.3f and volume %.3f of the exact ones", area/(4*pi*15.3^2), volume/(4/3*pi*15.3^3))
print "closed: ", is_closed(f, v), ", Euler number ", size(v,0) - size(f,0)/2
print "distance from the sphere: ", max(abs(sqrt((v[:,0]-19.2).^2 + (v[:,1]-20.1).^2 + (v[:,2]-18.7).^2) - 15.3)) < 0.03

% a plane: x are columns, y rows, z slices; the normal goes to lower values
[f, v] = isosurface(zeros(3,4,5) + [[[1.25]]] - x[0..2,0..3,0..4])
print all(v[:,0] == 1.25), " ", max(v[:,1]), " ", max(v[:,2])
a = v[f[0,0],:]
print sign(cross(v[f[0,1],:] - a, v[f[0,2],:] - a))

% noise has all cases of all tetrahedra; a border of low values closes the surface
randseed(3)
V = zeros(11,10,9) - 10
V[1..9,1..8,1..7] = randn(9,8,7)
[f, v] = isosurface(V, 0.3)
[area, volume] = measure(f, v)
print "closed: ", is_closed(f, v), ", volume > 0: ", volume > 0
[g, w] = isosurface(-V, -0.3)
[area2, volume2] = measure(g, w)
print "inside out: ", abs(volume + volume2) < 1e-3, " ", abs(area/area2 - 1) < 1e-5

% no surface
[f, v] = isosurface(zeros(2,2,2), 1)
print size(f), size(v)

for bad in {() -> isosurface(zeros(4,4)), () -> isosurface(zeros(2,2,2)/0), () -> isosurface(zeros(3,3,3), "a")}
    try
        bad()
    catch e
        print e
    end
end
try
    [f, v] = isosurface(zeros(3,3,3), nan)
catch e
    print e
end
