% args: --quick
% Spheres above a checkered floor, with shadows. A function that calls itself follows the reflections.
%
%   qrun examples/raytracer.q         writes out/raytracer.png

type hit : class
    t : scalar
    normal : vec3
    color : vec3
    mirror : scalar
end

% The nearest hit of the ray p + t*d; t is inf if there is none.  A row of spheres: centre, radius, color, mirror.
function h = __device__ nearest(spheres : mat, p : vec3, d : vec3)
    t = inf
    n = [0,0,0]
    color = [0,0,0]
    mirror = 0.0
    for k = 0..size(spheres,0)-1
        s = spheres[k,0..7]
        m = p - s[0..2]
        b = dotprod(m, d)
        q = b^2 - dotprod(m, m) + s[3]^2
        near = -b - sqrt(max(q, 0))
        if q > 0 && near > 1e-3 && near < t
            t = near
            n = (m + t*d)/s[3]
            color = s[4..6]
            mirror = s[7]
        end
    end
    floor_at = -p[1]/d[1]
    if floor_at > 1e-3 && floor_at < t
        t = floor_at
        n = [0,1,0]
        x = p + t*d
        color = mod(floor(x[0]) + floor(x[2]), 2) == 0 ? [0.9,0.9,0.9] : [0.2,0.2,0.25]
        mirror = 0.15
    end
    h = hit(t:=t, normal:=n, color:=color, mirror:=mirror)
end

function c = __device__ trace(spheres : mat, light : vec3, p : vec3, d : vec3, depth : int)
    h = nearest(spheres, p, d)
    if h.t == inf
        c = [0.5,0.7,1]*(1 - 0.6*max(d[1], 0))
        return
    end
    x = p + h.t*d
    shade = nearest(spheres, x, light)
    lit = shade.t == inf ? max(dotprod(h.normal, light), 0) : 0
    c = h.color*(0.2 + 0.8*lit)
    if depth > 0 && h.mirror > 0
        r = d - 2*dotprod(d, h.normal)*h.normal
        c = (1 - h.mirror)*c + h.mirror*trace(spheres, light, x, r, depth-1)
    end
end

% The color of a pixel: the mean of four rays.
function c = __device__ pixel(spheres : mat, light : vec3, row, column, rows, columns)
    c = [0,0,0]
    for k = 0..3
        u = (column + 0.25 + 0.5*mod(k,2) - columns/2)/rows
        v = (rows/2 - row - 0.25 - 0.5*floor(k/2))/rows
        d = [u, v - 0.15, 1]
        c += trace(spheres, light, [0,1.5,-5], d/norm(d), 6)/4
    end
end

function [] = __kernel__ render(spheres : mat, light : vec3, picture : cube, pos : ivec2)
    c = pixel(spheres, light, pos[0], pos[1], size(picture,0), size(picture,1))
    picture[pos[0],pos[1],0..2] = 255*sqrt(c)
end

function [] = main()
    rows = numel(args()) > 0 ? 60 : 480
    spheres = [[0,1,0,1, 1,0.3,0.2,0.3], [2.1,0.7,-0.6,0.7, 0.2,0.9,0.4,0.2], [-2,0.8,-0.4,0.8, 0.95,0.95,0.95,0.8],
               [0.9,0.35,-1.8,0.35, 0.3,0.5,1,0.5], [-0.8,0.3,-2,0.3, 1,0.8,0.2,0.1],
               [1.2,1.4,2.5,1.4, 0.9,0.9,0.9,0.85]]
    light = [0.5,0.75,-0.43]
    columns = int(rows*4/3)
    picture = zeros(rows, columns, 3)
    parallel_do(size(picture,0..1), spheres, light, picture, render)
    for k = 1..9                                 % the host computes the same colors
        row = int(rows*k/10)
        column = int(columns*mod(7*k,10)/10)
        c = 255*sqrt(pixel(spheres, light, row, column, rows, columns))
        assert(max(abs(picture[row,column,0..2] - c)) < 0.5, "pixel ", row, ", ", column)
    end
    if numel(args()) == 0
        makedir("out")
        imwrite("out/raytracer.png", picture)
        print "wrote out/raytracer.png"
    end
end
