% Marching squares: the contour of an image as line segments. atomic_add gives each segment its place in a list, so that the
% list has no gaps. A circle must have its circumference, and each end of a segment must lie on the contour.

% The point between two corners where the image has the value `level`.
function p = __device__ crossing(a, b, va, vb, level)
    t = (level - va)/(vb - va)
    p = [a[0] + t*(b[0] - a[0]), a[1] + t*(b[1] - a[1])]
end

function [] = __kernel__ march(img : mat, level : scalar, segments : mat, count : vec[int], pos : ivec2)
    corner = [[0,0],[0,1],[1,1],[1,0]]
    v = [img[pos], img[pos+[0,1]], img[pos+[1,1]], img[pos+[1,0]]]
    middle = sum(v)/4 > level
    cuts = zeros(4, 2)
    n = 0
    % In a saddle, where the contour crosses all edges, the segments separate the corners that the middle is unlike: the
    % walk begins at such a corner.
    first = (v[0] > level) == middle ? 0 : 1
    for e = first..first+3
        i = mod(e, 4)
        j = mod(e+1, 4)
        if (v[i] > level) != (v[j] > level)
            cuts[n,0..1] = crossing(pos + corner[i,0..1], pos + corner[j,0..1], v[i], v[j], level)
            n += 1
        end
    end
    for k = 0..n/2-1
        at = atomic_add(count[0], 1)
        if at < size(segments, 0)
            segments[at,0..1] = cuts[2*k,0..1]
            segments[at,2..3] = cuts[2*k+1,0..1]
        end
    end
end

function [segments, n] = contour_of(img, level, most)
    segments = zeros(most, 4)
    count = vec[int](1)
    parallel_do(size(img) - 1, img, level, segments, count, march)
    assert(count[0] <= most, "the list has room for all segments")
    n = count[0]
    segments = segments[0..n-1,:]
end

function [] = main()
    n = 200
    [c, r] = meshgrid(0..n-1, 0..n-1)
    img = sqrt((r - 101.3).^2 + (c - 97.6).^2)
    [s, count] = contour_of(img, 61.7, 4000)
    length = sum(sqrt((s[:,2] - s[:,0]).^2 + (s[:,3] - s[:,1]).^2))
    printf("%d segments, circumference %.3f times the exact one", count, length/(2*pi*61.7))
    assert(abs(length/(2*pi*61.7) - 1) < 0.001, "the length of a circle")
    radius = sqrt((s[:,0] - 101.3).^2 + (s[:,1] - 97.6).^2)
    assert(max(abs(radius - 61.7)) < 0.01, "the ends lie on the circle")
    [s, count] = contour_of([[0,1],[1,0]], 0.4, 2)
    print "a saddle has ", count, " segments"
end
