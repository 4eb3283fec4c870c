% Triangles of points and values interpolated between them agree with SciPy: tests/goldens/make.py.
import "scattered.q"
import "matfun.q"
g = load("tests/goldens/scattered.npz")
function [] = check(name, got, wanted)
    nans = sum(isnan(got) != isnan(wanted))
    if !isequal(size(got), size(wanted)) || nans > 0 || max(abs(where(isnan(got), 0, got - wanted))) > 1e-12
        print name, " is wrong: ", size(got), " ", size(wanted), " ", nans
    endif
end
[T, opposite] = delaunay(g.p)
check("delaunay", float64(sortrows(sort(T, 1))), g.T)
check("linear", griddata(g.p, g.z, g.at), g.linear)
check("nearest", griddata(g.p, g.z, g.at, "nearest"), g.nearest)
check("in space", griddata(g.solid, float64(0..29), g.places, "nearest"), g.near)
% Each edge inside belongs to two triangles, in opposite directions.
good = 1
for k = 0..size(T,0)-1
    for i = 0..2
        e = opposite[k,i]
        if e >= 0
            m = floor(e/3)
            j = mod(e, 3)
            same = T[m,j] == T[k,mod(i+1,3)] && T[m,mod(j+1,3)] == T[k,i] && opposite[m,j] == 3*k+i
            good = same ? good : 0
        endif
    end
end
print good
% Many points on a line or a circle, and points that occur twice.
[x, y] = meshgrid(float64(0..8), float64(0..6))
p = horzcat(reshape(x, [63,1]), reshape(y, [63,1]))
T = delaunay(vertcat(p, p[5..20,:], p))
area = (p[T[:,1],0]-p[T[:,0],0]).*(p[T[:,2],1]-p[T[:,0],1]) - (p[T[:,1],1]-p[T[:,0],1]).*(p[T[:,2],0]-p[T[:,0],0])
print size(T), min(area) == max(area), abs(sum(area)) == 96
q = float64([[0,0],[8,6],[0.3,0],[8,2.7],[3.25,4.5],[8.01,3],[-1,-1],[nan,1]])
print griddata(p, p[:,0] + 10*p[:,1], q), griddata(p, p[:,0], q, "nearest"), griddata(p, p[:,0], q[5..6,:], "linear", -7)
a = float64(0..39)*pi/20
print size(delaunay(transpose(vertcat(cos(a), sin(a))))), delaunay([[0,0],[1,0],[0,1]])
z = float64([1,2,3,4])
print grad(z -> sum(griddata([[0,0],[1,0],[0,1],[1.5,1.5]], z, [[0.25,0.5],[9,9]], "linear", 0)), z)
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
attempt(() -> delaunay([[0,0],[1,1]]))
attempt(() -> delaunay(ones(4,3)))
attempt(() -> delaunay([[0,0],[1,1],[2,2],[5,5]]))
attempt(() -> delaunay([[1,1],[1,1],[1,1]]))
attempt(() -> delaunay([[0,0],[1,nan],[2,2]]))
attempt(() -> griddata(g.p, [1,2], g.at))
attempt(() -> griddata(g.p, g.z, g.places))
attempt(() -> griddata(g.solid, float64(0..29), g.places))
attempt(() -> griddata(g.p, g.z, g.at, "cubic"))
attempt(() -> griddata(zeros(0,2), [], g.at))
attempt(() -> griddata(g.p, "a", g.at))
