% Module: dtcwt.q
% The dual-tree complex wavelet transform: nearly shift invariant, six directions, four times as many numbers as pixels.
% Source: Selesnick, Baraniuk, Kingsbury: The dual-tree complex wavelet transform, IEEE Signal Processing Magazine (2005).
import "dwt.q"
import "hilbert_pairs.q"

% Low-pass filters of the two trees for the first level (Abdelnour, Selesnick 2001),
filtercoeff_farras = {float64([0, -0.08838834764832, 0.08838834764832, 0.69587998903400, 0.69587998903400,
                               0.08838834764832, -0.08838834764832, 0.01122679215254, 0.01122679215254, 0]),
                      float64([0.01122679215254, 0.01122679215254, -0.08838834764832, 0.08838834764832, 0.69587998903400,
                               0.69587998903400, 0.08838834764832, -0.08838834764832, 0, 0])}
% and for the other levels (Kingsbury 2000: 6-tap q-shift filters).
filtercoeff_dualfilt = {float64([0.03516384, 0, -0.08832942, 0.23389032, 0.76027237, 0.58751830, 0, -0.11430184, 0, 0]),
                        float64([0, 0, -0.11430184, 0, 0.58751830, 0.76027237, 0.23389032, -0.08832942, 0, 0.03516384])}

% Function: complex_orthogonal_wavelet
% The filters of the two trees, as the transforms take them.
%
% Parameters:
% w - the low pass filters of tree a and b: {a, b}, or a matrix of two rows, e.g. filtercoeff_selcw[3,1]
%
% Returns:
% the cell {low pass of a, of b, high pass of a, of b}
function f = complex_orthogonal_wavelet(w)
    a = tree_filter(w, 0)
    b = tree_filter(w, 1)
    f = {a, b, wavelet_highpass(a), wavelet_highpass(b)}
end

function h = tree_filter(w, tree : int)
    assert((iscell(w) ? numel(w) : size(w,0)) >= 2, _
           "the filters of the two trees must be {a, b} or a matrix of two rows, got ", w)
    h = iscell(w) ? w[tree] : w[tree,:]
end

% Computes the levels of one of the four real trees: tree a or b (0 or 1) for columns and for rows.
function W = dtcwt_tree(x : cube, w1, w2, J : int, down : int, right : int)
    W = cell(J+1)
    low = x
    for j = 0..J-1
        f = j == 0 ? w1 : w2
        [next, bands] = dwt2d_level(low, tree_filter(f, down), tree_filter(f, right))
        W[j] = bands
        low = next
    end
    W[J] = low
end

function x = idtcwt_tree(W, w1, w2, down : int, right : int)
    J = numel(W)-1
    x = W[J]
    for j = J-1..-1..0
        f = j == 0 ? w1 : w2
        x = idwt2d_level(x, W[j], tree_filter(f, down), tree_filter(f, right))
    end
end

% Function: dtcwt2d
% The dual-tree complex wavelet coefficients of an image.  The sum of their squared moduli is that of the pixels.
%
% Parameters:
% x - height x width or height x width x channels, both divisible by 2^J
% w1, w2 - low pass filters of the first level and of the others: {tree a, tree b}, or a matrix of two rows
% J - how many levels
%
% Returns:
% a cell of J+1 entries: for each level, finest first, a cell of six complex arrays, one per direction; then a cell with the
% low pass rest of the four trees
function W = dtcwt2d(x : cube, w1 = filtercoeff_farras, w2 = filtercoeff_dualfilt, J : int = 4)
    dwt_check("dtcwt2d", size(x, 0..1), J)
    half = x/2
    aa = dtcwt_tree(half, w1, w2, J, 0, 0)
    ab = dtcwt_tree(half, w1, w2, J, 0, 1)
    ba = dtcwt_tree(half, w1, w2, J, 1, 0)
    bb = dtcwt_tree(half, w1, w2, J, 1, 1)
    W = cell(J+1)
    for j = 0..J-1
        level = cell(6)
        for b = 0..2
            level[b] = complex(aa[j][b] - bb[j][b], ab[j][b] + ba[j][b])/sqrt(2)
            level[b+3] = complex(aa[j][b] + bb[j][b], ba[j][b] - ab[j][b])/sqrt(2)
        end
        W[j] = level
    end
    W[J] = {aa[J], ab[J], ba[J], bb[J]}
end

% Function: idtcwt2d
% The image of dual-tree complex wavelet coefficients.
%
% :function x = idtcwt2d(W : vec[??], w1 = filtercoeff_farras, w2 = filtercoeff_dualfilt)
function x = idtcwt2d(W, w1 = filtercoeff_farras, w2 = filtercoeff_dualfilt)
    J = numel(W)-1
    aa = cell(J+1)
    ab = cell(J+1)
    ba = cell(J+1)
    bb = cell(J+1)
    for j = 0..J-1
        for tree = {aa, ab, ba, bb}
            tree[j] = cell(3)
        end
        for b = 0..2
            p = W[j][b]
            q = W[j][b+3]
            aa[j][b] = (real(q) + real(p))/sqrt(2)
            bb[j][b] = (real(q) - real(p))/sqrt(2)
            ba[j][b] = (imag(p) + imag(q))/sqrt(2)
            ab[j][b] = (imag(p) - imag(q))/sqrt(2)
        end
    end
    rest = W[J]
    aa[J] = rest[0]
    ab[J] = rest[1]
    ba[J] = rest[2]
    bb[J] = rest[3]
    x = (idtcwt_tree(aa, w1, w2, 0, 0) + idtcwt_tree(ab, w1, w2, 0, 1) +
         idtcwt_tree(ba, w1, w2, 1, 0) + idtcwt_tree(bb, w1, w2, 1, 1))/2
end

% -- three dimensions --------------------------------------------------------------------------------------------------

% Trees a or b (0 or 1) for rows, columns and slices.
dtcwt3d_trees = [[0,0,0],[0,1,1],[1,0,1],[1,1,0]]

% Computes one real tree as an in-place pyramid: each level stores its low-pass half first along each dimension.
function y = dwt3d_pyramid(x : cube, w1, w2, J : int, tree : vec)
    y = copy(x)
    for j = 0..J-1
        n = size(x, 0..2)/2^j
        part = y[0..n[0]-1, 0..n[1]-1, 0..n[2]-1]
        for d = 0..2
            [low, high] = dwt_along(part, tree_filter(j == 0 ? w1 : w2, tree[d]), d)
            part = cat(d, low, high)
        end
        y[0..n[0]-1, 0..n[1]-1, 0..n[2]-1] = part
    end
end

function x = idwt3d_pyramid(y : cube, w1, w2, J : int, tree : vec)
    x = copy(y)
    for j = J-1..-1..0
        n = size(y, 0..2)/2^j
        part = x[0..n[0]-1, 0..n[1]-1, 0..n[2]-1]
        for d = 2..-1..0
            [low, high] = halves(part, d)
            part = idwt_along(low, high, tree_filter(j == 0 ? w1 : w2, tree[d]), d)
        end
        x[0..n[0]-1, 0..n[1]-1, 0..n[2]-1] = part
    end
end

function [low, high] = halves(x : cube, d : int)
    n = size(x, d)/2
    match d with
    | 0 ->
        low = x[0..n-1,:,:]
        high = x[n..2*n-1,:,:]
    | 1 ->
        low = x[:,0..n-1,:]
        high = x[:,n..2*n-1,:]
    | _ ->
        low = x[:,:,0..n-1]
        high = x[:,:,n..2*n-1]
    end
end

% Sums and differences of the trees, which separate the directions; the low-pass corner is unchanged.  They are rows of
% an orthogonal, symmetric matrix, so applying it twice restores the trees.
function b = dtcwt3d_directions(y, J : int)
    rest = size(y[0], 0..2)/2^J
    b = {(y[0]+y[1]+y[2]+y[3])/2, (y[0]+y[1]-y[2]-y[3])/2, (y[0]-y[1]+y[2]-y[3])/2, (y[0]-y[1]-y[2]+y[3])/2}
    for k = 0..3
        b[k][0..rest[0]-1, 0..rest[1]-1, 0..rest[2]-1] = y[k][0..rest[0]-1, 0..rest[1]-1, 0..rest[2]-1]
    end
end

% Function: dtcwt3d_untiled
% The dual-tree wavelet coefficients of a volume, oriented in space: four times as many real numbers as voxels.  The sum
% of their squares is that of the voxels.
%
% Parameters:
% x - height x width x depth, all divisible by 2^J
% w1, w2 - low pass filters of the first level and of the others, as dtcwt2d and complex_orthogonal_wavelet take them
% J - how many levels
%
% Returns:
% a cell of four cubes of the size of x, which may be changed in place: the details of the first level fill all but the
% first octant, those of the next level all but the first octant of that …; the low pass rest of size(x)/2^J is at [0,0,0]
function b = dtcwt3d_untiled(x : cube, w1 = filtercoeff_farras, w2 = filtercoeff_dualfilt, J : int = 3)
    dwt_check("dtcwt3d_untiled", size(x, 0..2), J)
    half = x/2
    trees = cell(4)
    for k = 0..3
        trees[k] = dwt3d_pyramid(half, w1, w2, J, dtcwt3d_trees[k,:])
    end
    b = dtcwt3d_directions(trees, J)
end

% Function: idtcwt3d_untiled
% The volume of such coefficients.
%
% :function x = idtcwt3d_untiled(b : vec[??], w1 = filtercoeff_farras, w2 = filtercoeff_dualfilt, J : int = 3)
function x = idtcwt3d_untiled(b, w1 = filtercoeff_farras, w2 = filtercoeff_dualfilt, J : int = 3)
    dwt_check("idtcwt3d_untiled", size(b[0], 0..2), J)
    trees = dtcwt3d_directions(b, J)
    x = idwt3d_pyramid(trees[0], w1, w2, J, dtcwt3d_trees[0,:])
    for k = 1..3
        x += idwt3d_pyramid(trees[k], w1, w2, J, dtcwt3d_trees[k,:])
    end
    x = x/2
end
