% Module: radon.q
% Projections of images, and images of projections (computed tomography with parallel beams).
% Source: Kak, Slaney: Principles of computerized tomographic imaging (1988), chapter 3.
import "check.q"
import "matfun.q"

function [] = __kernel__ radon_line(y : mat'unchecked, x : mat'safe, turn : mat'unchecked, pos : ivec2)
    c = turn[0,pos[1]]
    s = turn[1,pos[1]]
    middle = (size(y,0)-1)/2
    row = (size(x,0)-1)/2 - (pos[0]-middle)*s
    col = (size(x,1)-1)/2 + (pos[0]-middle)*c
    total = 0.0
    for k = 0..size(y,0)-1
        u = row - (k-middle)*c
        v = col - (k-middle)*s
        i = int(floor(u))
        j = int(floor(v))
        a = u - i
        b = v - j
        total += (1-a)*((1-b)*x[i,j] + b*x[i,j+1]) + a*((1-b)*x[i+1,j] + b*x[i+1,j+1])
    end
    y[pos] = total
end

function [] = __kernel__ radon_back(x : mat'unchecked, y : mat'safe, turn : mat'unchecked, pos : ivec2)
    down = pos[0] - (size(x,0)-1)/2
    right = pos[1] - (size(x,1)-1)/2
    total = 0.0
    for k = 0..size(turn,1)-1
        at = (size(y,0)-1)/2 + right*turn[0,k] - down*turn[1,k]
        i = int(floor(at))
        b = at - i
        total += (1-b)*y[i,k] + b*y[i+1,k]
    end
    x[pos] = total
end

function [y, r] = radon(x : mat, angle : scalar)
    [y, r] = radon(x, float64([angle]))
end

function turn = radon_turn(angles : vec, like)
    a = float64(angles)*(pi/180)
    turn = cast_like(vertcat(cos(a), sin(a)), like)
end

% Function: radon
% The sums of an image along parallel lines: column k belongs to the angle k, the middle row to the line through the middle
% of the image.  At 0 degrees lines run down the image, and the row grows to the right; angles turn that
% counter-clockwise.
%
% Parameters:
% x - a grey image
% angles - in degrees
%
% Returns:
% y - a row for each line, a column for each angle
% r - the distances of the lines from the middle of the image
function [y, r] = radon(x : mat, angles : vec = 0..179)
    n = 2*ceil(hypot(size(x,0), size(x,1))/2) + 1
    r = float64(0..n-1) - (n-1)/2
    y = uninit_like(x, n, numel(angles))
    parallel_do(size(y), y, x, radon_turn(angles, x), radon_line)
end

% Function: iradon
% The image of n x n pixels that has the given projections, by filtered backprojection.
%
% Parameters:
% y - what radon gives
% angles - its angles, evenly spaced over 180 degrees
% n - the extent of the image; null: what fits into every projection
% filter - "ram-lak", the ramp; "shepp-logan", "cosine", "hamming" and "hann" weaken high frequencies; "none"
function x = iradon(y : mat, angles : vec = 0..179, n = null, filter : string = "ram-lak")
    assert(!isstring(n), "iradon: n must be a number; write iradon(y, angles, n, filter), lines are interpolated linearly")
    assert(size(y,1) == numel(angles), "iradon: y must have a column for each angle, got size ", size(y), _
           " and ", numel(angles), " angles")
    check_filled("iradon: y", y)
    m = isnull(n) ? 2*floor((size(y,0)-1)/(2*sqrt(2))) : n
    check_whole("iradon: n", m, 0)
    x = uninit_like(y, m, m)
    parallel_do(size(x), x, radon_filter(y, filter)*(pi/numel(angles)), radon_turn(angles, y), radon_back)
end

function z = radon_filter(y, filter)
    rows = size(y, 0)
    n = nextpow2(2*rows)
    k = float64(0..n-1)
    k = min(k, n-k)
    ramp = (k == 0)*0.25 - (mod(k,2) == 1)./(pi*max(k,1)).^2
    w = 2*pi*k/n
    match filter with
    | "ram-lak" -> weight = 1
    | "shepp-logan" -> weight = sinc(w/(2*pi))
    | "cosine" -> weight = cos(w/2)
    | "hamming" -> weight = 0.54 + 0.46*cos(w)
    | "hann" -> weight = 0.5 + 0.5*cos(w)
    | "none" -> [ramp, weight] = {k == 0, 0.5}
    | _ -> error("iradon: filter must be ram-lak, shepp-logan, cosine, hamming, hann or none, got ", filter)
    end
    response = weight.*real(fft1(ramp))
    padded = zeros_like(y, n, size(y,1))
    padded[0..rows-1,:] = y
    z = real(ifft1(fft1(padded, 0).*cast_like(transpose(response), y), 0))[0..rows-1,:]
end
