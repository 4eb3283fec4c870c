% Module: hashgrid.q
% A uniform grid of cells that finds the points near a point in the plane or in space, inside kernels and outside.
%
%     g = hash_grid(points, radius)         N x 2 or N x 3 points; cells have this size
%     for c = 0..grid_cells(g)-1            9 or 27 cells around p
%         [first, last] = grid_range(g, p, c)
%         for k = first..last
%             j = g.order[k]                each point within `radius` of p is one of these, once; test its distance
%
% Cells are numbered modulo the extents of a table, as Warp's HashGrid does, so the points need no bounds.  The table has
% at least three cells along each axis, so that the cells around a point are different ones.  Points of a cell are in
% ascending order.  A grid describes the points as they were: make another one when they have moved.

type point_grid : class
    dims : int
    size : scalar
    cells : ivec3
    start : vec[int]
    order : vec[int]
end

function c = __device__ grid_wrap(g : point_grid, x, axis, step)
    c = axis < g.dims ? mod(int(floor(x[min(axis, g.dims-1)]/g.size)) + step, g.cells[axis]) : 0
end

% The number of the cell that is `step` cells away from the one that contains x.
function c = __device__ grid_number(g : point_grid, x, step)
    c = (grid_wrap(g, x, 0, step[0])*g.cells[1] + grid_wrap(g, x, 1, step[1]))*g.cells[2] + grid_wrap(g, x, 2, step[2])
end

% Function: grid_cells
% The number of cells around a point: 9 in the plane, 27 in space.
function n = __device__ grid_cells(g : point_grid)
    n = g.dims == 2 ? 9 : 27
end

% Function: grid_range
% Returns the positions in g.order of the points in cell c of those around x: first..last, which may be empty.
function [first, last] = __device__ grid_range(g : point_grid, x, c)
    step = [int(c/9) - 1, mod(int(c/3), 3) - 1, mod(c, 3) - 1]
    if g.dims == 2
        step = [int(c/3) - 1, mod(c, 3) - 1, 0]
    end
    n = grid_number(g, x, step)
    first = g.start[n]
    last = g.start[n+1] - 1
end

function [] = __kernel__ find_cells(points, cells : vec[int], g : point_grid, pos : int)
    x = [points[pos,0], points[pos,1], points[pos,g.dims-1]]
    cells[pos] = grid_number(g, x, [0,0,0])
end

% Function: hash_grid
% A grid of cells of size `radius` around the rows of an N x 2 or N x 3 matrix, which finds the points near a point in kernels
% and outside; see the head of hashgrid.q.
function g = hash_grid(points, radius : scalar)
    n = size(points,0)
    dims = size(points,1)
    assert(ndims(points) <= 2 && (dims == 2 || dims == 3), "hash_grid: points must be an N x 2 or N x 3 matrix, got size ", _
           size(points))
    assert(radius > 0 && radius < inf, "hash_grid: radius must be positive and finite, got ", radius)
    side = max(3, min(256, ceil(n^(1/dims))))
    extents = [side, side, dims == 2 ? 1 : side]
    cells = vec[int](n)
    parallel_do(n, points, cells, point_grid(dims:=dims, size:=radius, cells:=extents), find_cells)
    [sorted, order] = sort(cells)
    start = horzcat(0, cumsum(bincount(sorted, prod(extents))))
    g = point_grid(dims:=dims, size:=radius, cells:=extents, order:=int(order), start:=int(start))
end
