% ADBench's bundle adjustment: cameras (rotation, centre, focus, principal point, radial distortion) see points; the sum
% of the squared errors of all observations.  The gradient is to the cameras.
import "race.q"

function [] = __kernel__ errors(cams : mat'unchecked, points : mat'unchecked, w : vec'unchecked, seen : mat'unchecked,
                                c : vec[int]'unchecked, p : vec[int]'unchecked, e : mat'unchecked, pos : int)
    a = c[pos]
    b = p[pos]
    r0 = cams[a,0]
    r1 = cams[a,1]
    r2 = cams[a,2]
    x0 = points[b,0] - cams[a,3]
    x1 = points[b,1] - cams[a,4]
    x2 = points[b,2] - cams[a,5]
    t2 = r0*r0 + r1*r1 + r2*r2
    t = sqrt(t2)
    co = cos(t)
    si = sin(t)/t
    dot = (r0*x0 + r1*x1 + r2*x2)*(1 - co)/t2
    y0 = x0*co + (r1*x2 - r2*x1)*si + r0*dot
    y1 = x1*co + (r2*x0 - r0*x2)*si + r1*dot
    y2 = x2*co + (r0*x1 - r1*x0)*si + r2*dot
    u = y0/y2
    v = y1/y2
    rr = u*u + v*v
    l = 1 + cams[a,9]*rr + cams[a,10]*rr*rr
    e[0,pos] = w[pos]*(u*l*cams[a,6] + cams[a,7] - seen[0,pos])
    e[1,pos] = w[pos]*(v*l*cams[a,6] + cams[a,8] - seen[1,pos])
end

function s = value(cams, points, w, seen, c, p)
    e = uninit(2, numel(w))
    parallel_do(numel(w), cams, points, w, seen, c, p, e, errors)
    s = 0.5*mean(e.*e) + 0.5*mean((1 - w.*w).^2)
end

function [] = main()
    n = 31843
    ncams = 49
    npoints = 7776
    cams = 0.1 + 0.2*reshape(pattern(ncams*11, 37, 1021), [ncams,11])
    points = reshape(pattern(npoints*3, 53, 1019), [npoints,3])
    points[:,2] = points[:,2] + 4
    w = 0.5 + 0.5*pattern(n, 71, 1013)
    seen = reshape(pattern(2*n, 37, 1009), [2,n])
    c = vec[int](n)
    p = vec[int](n)
    for i = 0..n-1
        c[i] = mod(i, ncams)
        p[i] = mod(i*7, npoints)
    end
    race(() -> value(cams, points, w, seen, c, p), () -> grad(cams -> value(cams, points, w, seen, c, p), cams))
end
