% Module: multirestransforms.q
% Multiresolution transforms as pairs of functions: [S, S_H] = build_…(…) gives an analysis S and its inverse S_H.
import "dwt.q"
import "dtcwt.q"

% Function: build_dwt
% The wavelet transform of J levels with the low pass filter w.
%
% :function [S, S_H] = build_dwt(J : int = 4, w : vec = filtercoeff_daub4)
function [S, S_H] = build_dwt(J : int = 4, w : vec = filtercoeff_daub4)
    S = x -> dwt2d(x, w, J)
    S_H = W -> idwt2d(W, w)
end

% Function: build_dtcwt
% The dual-tree complex wavelet transform of J levels.
%
% :function [S, S_H] = build_dtcwt(J : int = 4)
function [S, S_H] = build_dtcwt(J : int = 4)
    S = x -> dtcwt2d(x, filtercoeff_farras, filtercoeff_dualfilt, J)
    S_H = W -> idtcwt2d(W)
end

% Function: lincell
% The entries of nested cells, in order, as one list.
%
% :function y = lincell(w : vec[??])
function y = lincell(w)
    y = cell(0)
    for item = w
        y = horzcat(y, iscell(item) ? lincell(item) : {item})
    end
end
