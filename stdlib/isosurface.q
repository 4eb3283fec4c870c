% Module: isosurface.q
% The surface in a volume on which the values are equal to a level, as triangles.
%
% The method is marching tetrahedra.  Each cube of eight voxels is cut into six tetrahedra around its diagonal.  A
% tetrahedron is cut by the surface in no, one or two triangles, so no table of cases is needed, and there are no
% ambiguous cases: the surface has no holes inside the volume.  A vertex is on an edge of a tetrahedron.  The seven edges
% that begin at a voxel go to the corners 1 to 7 of its cube, whose bits are the steps along the dimensions.
%
% Kernels first count the vertices and triangles of each voxel.  Running sums of these numbers are the positions at which
% other kernels store them.  Therefore the order of the results does not depend on the device.

% The voxel at corner c, 0 to 7, of the cube that begins at a voxel.
function q = __device__ cube_corner(p : ivec3, c)
    q = p + [and(c, 1), and(shr(c, 1), 1), shr(c, 2)]
end

% Sets the bits of the edges of a voxel that the surface crosses: bit c-1 for the edge to corner c.
function [] = __kernel__ find_crossings(V : cube, level : scalar, crossings : cube[int], pos : ivec3)
    last = size(V) - 1
    inside = V[pos] > level
    bits = 0
    for c = 1..7
        q = cube_corner(pos, c)
        if q[0] <= last[0] && q[1] <= last[1] && q[2] <= last[2] && (V[q] > level) != inside
            bits = or(bits, shl(1, c-1))
        end
    end
    crossings[pos] = bits
end

function n = __device__ count_bits(bits)
    n = 0
    for c = 0..6
        n += and(shr(bits, c), 1)
    end
end

function [] = __kernel__ count_crossings(crossings : cube[int], count : cube[int], pos : ivec3)
    count[pos] = count_bits(crossings[pos])
end

% The corners of tetrahedron t, 0 to 5: a path along the edges of the cube from corner 0 to corner 7.
function v = __device__ tetrahedron(t)
    a = int(t/2)
    b = mod(a + 1 + mod(t, 2), 3)
    v = [0, shl(1, a), shl(1, a) + shl(1, b), 7]
end

% Which corners of a tetrahedron are inside, and their number.
function [inside, n] = __device__ inside_corners(V : cube, level, p : ivec3, v)
    inside = [0, 0, 0, 0]
    n = 0
    for k = 0..3
        if V[cube_corner(p, v[k])] > level
            inside[k] = 1
            n += 1
        end
    end
end

function [] = __kernel__ count_triangles(V : cube, level : scalar, count : cube[int], pos : ivec3)
    total = 0
    for t = 0..5
        [inside, n] = inside_corners(V, level, pos, tetrahedron(t))
        total += n == 2 ? 2 : mod(n, 4) == 0 ? 0 : 1
    end
    count[pos] = total
end

function [] = __kernel__ store_vertices(V : cube, level : scalar, crossings : cube[int], start : cube[int], vertices : mat, _
                                        pos : ivec3)
    bits = crossings[pos]
    at = start[pos]
    for c = 1..7
        if and(shr(bits, c-1), 1) == 1
            q = cube_corner(pos, c)
            t = (level - V[pos])/(V[q] - V[pos])
            vertices[at,0] = pos[1] + t*(q[1] - pos[1])
            vertices[at,1] = pos[0] + t*(q[0] - pos[0])
            vertices[at,2] = pos[2] + t*(q[2] - pos[2])
            at += 1
        end
    end
end

% The number of the vertex between corners a and b, a < b, of the cube that begins at voxel p.
function n = __device__ edge_vertex(crossings : cube[int], start : cube[int], p : ivec3, a, b)
    q = cube_corner(p, a)
    n = start[q] + count_bits(and(crossings[q], shl(1, b - a - 1) - 1))
end

% Stores the triangles of tetrahedron t of a cube from row `at` of faces on, and returns the next row.  Seen from outside,
% where values are lower, their vertices are counterclockwise.  Order i, j, k, l of the corners 0, 1, 2, 3 is right for the
% even tetrahedra if x counts rows; each odd permutation reverses it.
function at = __device__ store_tetrahedron(V : cube, level, crossings : cube[int], start : cube[int], faces : mat[int], at, t, p : ivec3)
    v = tetrahedron(t)
    [inside, n] = inside_corners(V, level, p, v)
    odd = mod(t, 2) + 1                     % 1: x counts columns
    if n == 1 || n == 3
        lone = n == 1 ? 1 : 0
        i = inside[0] == lone ? 0 : inside[1] == lone ? 1 : inside[2] == lone ? 2 : 3
        j = i > 0 ? 0 : 1
        k = i > 1 ? 1 : 2
        l = i > 2 ? 2 : 3
        flip = mod(odd + i + (n == 3 ? 1 : 0), 2)
        faces[at,0] = edge_vertex(crossings, start, p, v[min(i,j)], v[max(i,j)])
        faces[at,1+flip] = edge_vertex(crossings, start, p, v[min(i,k)], v[max(i,k)])
        faces[at,2-flip] = edge_vertex(crossings, start, p, v[min(i,l)], v[max(i,l)])
        at += 1
    elseif n == 2
        i = inside[0] == 1 ? 0 : inside[1] == 1 ? 1 : 2
        j = inside[3] == 1 ? 3 : inside[2] == 1 ? 2 : 1
        k = i > 0 ? 0 : j > 1 ? 1 : 2
        l = j < 3 ? 3 : i < 2 ? 2 : 1
        flip = mod(odd + i + j + 1, 2)
        ik = edge_vertex(crossings, start, p, v[min(i,k)], v[max(i,k)])
        jl = edge_vertex(crossings, start, p, v[min(j,l)], v[max(j,l)])
        faces[at,0] = ik
        faces[at,1+flip] = edge_vertex(crossings, start, p, v[min(i,l)], v[max(i,l)])
        faces[at,2-flip] = jl
        faces[at+1,0] = ik
        faces[at+1,1+flip] = jl
        faces[at+1,2-flip] = edge_vertex(crossings, start, p, v[min(j,k)], v[max(j,k)])
        at += 2
    end
end

function [] = __kernel__ store_triangles(V : cube, level : scalar, crossings : cube[int], start : cube[int], count : cube[int], _
                                         first : cube[int], faces : mat[int], pos : ivec3)
    at = first[pos]
    if count[pos] > 0
        for t = 0..5
            at = store_tetrahedron(V, level, crossings, start, faces, at, t, pos)
        end
    end
end

% The running sums before each element, and the sum of all.
function [before, total] = sums_before(count)
    sums = cumsum(float64(reshape(count, [1,-1])))
    total = numel(count) > 0 ? sums[numel(sums)-1] : 0
    before = reshape(int(sums - reshape(count, [1,-1])), size(count))
end

% Function: isosurface
% The surface V = level in a volume, as [faces, vertices].  Each row of vertices is a point [x,y,z]: x counts columns, y
% rows and z slices, from 0.  Each row of faces has the numbers of three vertices, counterclockwise seen from the side of
% lower values.  The surface ends at the borders of the volume, unless a border of lower values closes it.  Neighbouring
% triangles share vertices.  Vertices are float32 for volumes of all types.  As skimage.measure.marching_cubes, with other
% triangles.
% Source: Doi, Koide: An efficient method of triangulating equi-valued surfaces by using tetrahedral cells (1991).
%
% Parameters:
% V     - the volume, rows x columns x slices, at least 2 x 2 x 2, without nan
% level - the value on the surface; voxels above it are inside
function [faces, vertices] = isosurface(V : cube, level : scalar = 0)
    s = size(V, [0,1,2])
    assert(all(s >= 2), "isosurface: V must have at least 2 x 2 x 2 voxels, got size ", s)
    assert(!any(isnan(V)), "isosurface: V must not contain nan")
    assert(!isnan(level), "isosurface: level must be a number, got nan")
    crossings = cube[int](s)
    count = cube[int](s)
    parallel_do(s, V, level, crossings, find_crossings)
    parallel_do(s, crossings, count, count_crossings)
    [start, n] = sums_before(count)
    vertices = zeros(n, 3)
    parallel_do(s, V, level, crossings, start, vertices, store_vertices)
    triangles = cube[int](s - 1)
    parallel_do(s - 1, V, level, triangles, count_triangles)
    [first, n] = sums_before(triangles)
    faces = mat[int](n, 3)
    parallel_do(s - 1, V, level, crossings, start, triangles, first, faces, store_triangles)
end
