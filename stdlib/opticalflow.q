% Module: opticalflow.q
% The motion of every pixel between two images.
import "imfilter.q"
import "imwarp.q"

% The second image at the positions to which the pixels have moved so far.
function [] = __kernel__ flow_warp(w : mat'unchecked, y : cube'safe, down : mat'unchecked, right : mat'unchecked, _
                                   pos : ivec2)
    u = clamp(pos[0] + down[pos], -1e6, 1e6)
    v = clamp(pos[1] + right[pos], -1e6, 1e6)
    w[pos] = warp_bilinear(y, u, v, 0, warp_clamped)
end

% The products of the slopes and of the difference whose sums over a window form the linear system of its pixel.
function [] = __kernel__ flow_terms(P : cube'unchecked, w : mat'unchecked, x : mat'unchecked, down : mat'unchecked, _
                                    right : mat'unchecked, pos : ivec2)
    i = pos[0]
    j = pos[1]
    i0 = max(i-1, 0)
    i1 = min(i+1, size(w,0)-1)
    j0 = max(j-1, 0)
    j1 = min(j+1, size(w,1)-1)
    a = (w[i1,j] - w[i0,j])/(i1 - i0)
    b = (w[i,j1] - w[i,j0])/(j1 - j0)
    e = a*down[pos] + b*right[pos] + x[pos] - w[pos]
    P[0,i,j] = a*a
    P[1,i,j] = a*b
    P[2,i,j] = b*b
    P[3,i,j] = a*e
    P[4,i,j] = b*e
end

function [] = __kernel__ flow_rows(S : cube'unchecked, P : cube'reflect, r : int, pos : ivec3)
    s = 0.0
    for t = -r..r
        s += P[pos[0],pos[1],pos[2]+t]
    end
    S[pos] = s
end

% The motion that fits the pixels of a window best; 0 where the window has no structure.
function [] = __kernel__ flow_solve(down : mat'unchecked, right : mat'unchecked, S : cube'reflect, r : int, scale, _
                                    pos : ivec2)
    a = 0.0
    b = 0.0
    c = 0.0
    p = 0.0
    q = 0.0
    for t = -r..r
        a += S[0,pos[0]+t,pos[1]]
        b += S[1,pos[0]+t,pos[1]]
        c += S[2,pos[0]+t,pos[1]]
        p += S[3,pos[0]+t,pos[1]]
        q += S[4,pos[0]+t,pos[1]]
    end
    d = a*c - b*b
    good = abs(d)*scale*scale >= 1e-14
    divisor = good ? d : 1.0
    down[pos] = good ? (c*p - b*q)/divisor : 0.0
    right[pos] = good ? (a*q - b*p)/divisor : 0.0
end

% Improves the motion of one level of the pyramid.
function [] = flow_improve(x, y, down, right, r, n)
    s = size(x)
    w = uninit_like(x)
    P = uninit_like(x, 5, s[0], s[1])
    S = uninit_like(x, 5, s[0], s[1])
    for k = 1..n
        parallel_do(s, w, y, down, right, flow_warp)
        parallel_do(s, P, w, x, down, right, flow_terms)
        parallel_do(size(P), S, P, r, flow_rows)
        parallel_do(s, down, right, S, r, 1/(2*r+1)^2, flow_solve)
    end
end

% The image at half the size, without the frequencies that this size cannot hold.
function y = flow_half(x)
    s = ceil(size(x)/2)
    step = float64(size(x))./s
    y = affine_transform(gaussian_filter(x, 2/3, 3), diagm(step), (step-1)/2, s, "bilinear", "mirror")
end

% The motion of a level of the pyramid at the size s of the next one.
function d = flow_enlarged(d, s, axis)
    step = float64(size(d)-1)./max(s-1, 1)
    d = affine_transform(d, diagm(step), [0,0], s, "nearest", "clamped")*(s[axis]/size(d,axis))
end

% Function: opticalflow
% The motion of every pixel from one image to the next: y[i+down[i,j], j+right[i,j]] is like x[i,j]. The motion of a pixel
% is the one that fits a window around it best; smaller images give the first approximation. Source: Lucas, Kanade: An
% iterative image registration technique with an application to stereo vision (1981); Le Besnerais, Champagnat: Dense
% optical flow by iterative local window registration (2005); as skimage.registration.optical_flow_ilk.
%
% Parameters:
% x, y - two grey images of one size, at least 2 x 2
% r - the window has 2*r+1 pixels along each axis; a larger one tolerates more noise, a smaller one shows finer motion
% n - the number of iterations at each size
%
% Returns:
% down, right - two matrices with the motion of each pixel
%
% See also: <imremap>, <phase_correlation>
%
% :function [down, right] = opticalflow(x : mat, y : mat, r : int = 7, n : int = 10)
function [down, right] = opticalflow(x : mat, y : mat, r : int = 7, n : int = 10)
    check_alike("opticalflow: x and y", x, y)
    check_finite("opticalflow: x", x)
    check_finite("opticalflow: y", y)
    check_whole("opticalflow: r", r, 1)
    check_whole("opticalflow: n", n, 1)
    assert(min(size(x)) >= 2, "opticalflow: x must have at least 2 x 2 pixels, got size ", size(x))
    levels = {cast_like(x, 1.0*x[0..0,0..0])}
    others = {cast_like(y, levels[0])}
    while min(size(levels[0])) > 32 && numel(levels) < 10
        insert(levels, 0, flow_half(levels[0]))
        insert(others, 0, flow_half(others[0]))
    end
    down = zeros_like(levels[0])
    right = zeros_like(levels[0])
    for k = 0..numel(levels)-1
        s = size(levels[k])
        if k > 0
            down = flow_enlarged(down, s, 0)
            right = flow_enlarged(right, s, 1)
        endif
        flow_improve(levels[k], others[k], down, right, r, n)
    end
end
