% Module: dtcwt.q
% The dual-tree complex wavelet transform: nearly shift invariant, six directions, four times as many numbers as pixels.
% Source: Selesnick, Baraniuk, Kingsbury: The dual-tree complex wavelet transform, IEEE Signal Processing Magazine (2005).
import "dwt.q"

% Low pass filters of the two trees: for the first level (Abdelnour, Selesnick 2001) …
filtercoeff_farras = {float64([0, -0.08838834764832, 0.08838834764832, 0.69587998903400, 0.69587998903400,
                               0.08838834764832, -0.08838834764832, 0.01122679215254, 0.01122679215254, 0]),
                      float64([0.01122679215254, 0.01122679215254, -0.08838834764832, 0.08838834764832, 0.69587998903400,
                               0.69587998903400, 0.08838834764832, -0.08838834764832, 0, 0])}
% … and for the others (Kingsbury 2000: 6-tap q-shift filters).
filtercoeff_dualfilt = {float64([0.03516384, 0, -0.08832942, 0.23389032, 0.76027237, 0.58751830, 0, -0.11430184, 0, 0]),
                        float64([0, 0, -0.11430184, 0, 0.58751830, 0.76027237, 0.23389032, -0.08832942, 0, 0.03516384])}

% The levels of one of the four real trees: tree a or b (0 or 1) for columns and for rows.
function W = dtcwt_tree(x : cube, w1, w2, J : int, down : int, right : int)
    W = cell(J+1)
    low = x
    for j = 0..J-1
        f = j == 0 ? w1 : w2
        [next, bands] = dwt2d_level(low, f[down], f[right])
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
        x = idwt2d_level(x, W[j], f[down], f[right])
    end
end

% Function: dtcwt2d
% The dual-tree complex wavelet coefficients of an image.  The sum of their squared moduli is that of the pixels.
%
% Parameters:
% x - height x width or height x width x channels, both divisible by 2^J
% w1, w2 - low pass filters {tree a, tree b} of the first level and of the others
% J - how many levels
%
% Returns:
% a cell of J+1 entries: for each level, finest first, a cell of six complex arrays, one per direction; then a cell with the
% low pass rest of the four trees
%
% :function W = dtcwt2d(x : cube, w1 = filtercoeff_farras, w2 = filtercoeff_dualfilt, J : int = 4)
function W = dtcwt2d(x : cube, w1 = filtercoeff_farras, w2 = filtercoeff_dualfilt, J : int = 4)
    check_dwt_size(x, J)
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
