% Module: colortransform.q
% Colour spaces.  An image is height x width x 3, its values in [0,1] unless said otherwise.
import "check.q"

% The product of row i of a matrix and the colours of a pixel.
function s = __device__ color_row(x, M, i : int, pos : ivec2)
    s = M[i,0]*x[pos[0],pos[1],0] + M[i,1]*x[pos[0],pos[1],1] + M[i,2]*x[pos[0],pos[1],2]
end

function [] = __kernel__ color_matrix(y : cube'unchecked, x : cube'unchecked, M : mat'unchecked, pos : ivec2)
    y[pos[0],pos[1],0..2] = [color_row(x, M, 0, pos), color_row(x, M, 1, pos), color_row(x, M, 2, pos)]
end

% Multiplies every pixel by a 3 x 3 matrix.
function y = transform_colors(img : cube, M : mat)
    y = uninit_like(img)
    parallel_do(size(img, 0..1), y, img, cast_like(M, img), color_matrix)
end

function [] = __kernel__ color_luma(y : mat'unchecked, x : cube'unchecked, pos : ivec2)
    y[pos] = 0.299*x[pos[0],pos[1],0] + 0.587*x[pos[0],pos[1],1] + 0.114*x[pos[0],pos[1],2]
end

% Function: rgb2gray
% Luma by ITU-R BT.601: 0.299 R + 0.587 G + 0.114 B, in any range of values. A grey image, height x width, is copied.
function y = rgb2gray(img : cube)
    if ndims(img) == 2
        y = copy(img)
        return
    endif
    check_colors("rgb2gray: img", img)
    y = uninit_like(img, size(img, 0..1))
    parallel_do(size(img, 0..1), y, img, color_luma)
end

% Function: rgb2ycbcr, ycbcr2rgb
% Luma and colour differences by ITU-R BT.601, full range: Y in [0,1], Cb and Cr in [-0.5,0.5].
function y = rgb2ycbcr(img : cube)
    check_colors("rgb2ycbcr: img", img)
    y = transform_colors(img, float64([[0.299,0.587,0.114],
                                       [-0.168735892,-0.331264108,0.5],
                                       [0.5,-0.418687589,-0.081312411]]))
end

function y = ycbcr2rgb(img : cube)
    check_colors("ycbcr2rgb: img", img)
    y = transform_colors(img, float64([[1,0,1.402],[1,-0.344136286,-0.714136286],[1,1.772,0]]))
end

% Function: csencodeSRGB, csdecodeSRGB
% The transfer function of sRGB (IEC 61966-2-1): linear light in [0,1] to code values and back.
function y = csencodeSRGB(x)
    y = x > 0.0031308 ? 1.055*max(x, 0).^(1/2.4) - 0.055 : 12.92*x
end

function y = csdecodeSRGB(x)
    y = x > 0.04045 ? max((x+0.055)/1.055, 0).^2.4 : x/12.92
end

% Function: csencodeRec709, csdecodeRec709, csencodeRec2020, csdecodeRec2020
% The transfer function of ITU-R BT.709, which BT.2020 shares with more digits.
function y = csencodeRec709(x)
    y = encode_rec(x, 1.099, 0.018)
end

function y = csdecodeRec709(x)
    y = decode_rec(x, 1.099, 0.018)
end

function y = csencodeRec2020(x)
    y = encode_rec(x, 1.09929682680944, 0.018053968510807)
end

function y = csdecodeRec2020(x)
    y = decode_rec(x, 1.09929682680944, 0.018053968510807)
end

function y = encode_rec(x, alpha, beta)
    y = x >= beta ? alpha*max(x, 0).^0.45 - (alpha-1) : 4.5*x
end

function y = decode_rec(x, alpha, beta)
    y = x >= 4.5*beta ? max((x+(alpha-1))/alpha, 0).^(1/0.45) : x/4.5
end

% Function: rgb2xyz, xyz2rgb
% Linear sRGB primaries to CIE XYZ for the white point D65 (IEC 61966-2-1); without transfer function.
function y = rgb2xyz(img : cube)
    check_colors("rgb2xyz: img", img)
    check_scale("rgb2xyz: img", img, 1)
    y = transform_colors(img, srgb_to_xyz())
end

function y = xyz2rgb(img : cube)
    check_colors("xyz2rgb: img", img)
    y = transform_colors(img, inv(srgb_to_xyz()))
end

function M = srgb_to_xyz()
    M = float64([[0.4124564,0.3575761,0.1804375],[0.2126729,0.7151522,0.0721750],[0.0193339,0.1191920,0.9503041]])
end

% Function: rgb2lab, lab2rgb
% sRGB code values in [0,1] to CIE L*a*b* (D65): L in [0,100].
function y = rgb2lab(img : cube)
    check_colors("rgb2lab: img", img)
    check_scale("rgb2lab: img", img, 1)
    y = uninit_like(img)
    M = srgb_to_xyz()./transpose(float64([0.95047, 1, 1.08883]))
    parallel_do(size(img, 0..1), y, csdecodeSRGB(img), cast_like(M, img), linear_to_lab)
end

function y = lab2rgb(img : cube)
    check_colors("lab2rgb: img", img)
    xyz = uninit_like(img)
    parallel_do(size(img, 0..1), xyz, img, lab_to_xyz)
    y = csencodeSRGB(xyz2rgb(xyz))
end

% CIE 15:2004.
lab_curve = __device__ t -> t > 0.008856452 ? cbrt(t) : 7.787037*t + 0.137931034
lab_inverse = __device__ t -> t > 0.206896552 ? t*t*t : (t - 0.137931034)/7.787037

% M maps linear colours to X, Y and Z divided by these of white.
function [] = __kernel__ linear_to_lab(y : cube'unchecked, x : cube'unchecked, M : mat'unchecked, pos : ivec2)
    fx = lab_curve(color_row(x, M, 0, pos))
    fy = lab_curve(color_row(x, M, 1, pos))
    fz = lab_curve(color_row(x, M, 2, pos))
    y[pos[0],pos[1],0..2] = [116*fy-16, 500*(fx-fy), 200*(fy-fz)]
end

function [] = __kernel__ lab_to_xyz(y : cube'unchecked, x : cube'unchecked, pos : ivec2)
    fy = (x[pos[0],pos[1],0]+16)/116
    fx = fy + x[pos[0],pos[1],1]/500
    fz = fy - x[pos[0],pos[1],2]/200
    y[pos[0],pos[1],0..2] = [0.95047*lab_inverse(fx), lab_inverse(fy), 1.08883*lab_inverse(fz)]
end

% Function: rgb2hsv, hsv2rgb
% Hue, saturation and value, all in [0,1].  Source: Smith: Color gamut transform pairs (1978).
function y = rgb2hsv(img : cube)
    check_colors("rgb2hsv: img", img)
    check_scale("rgb2hsv: img", img, 1)
    y = uninit_like(img)
    parallel_do(size(img, 0..1), y, img, rgb_to_hsv)
end

function y = hsv2rgb(img : cube)
    check_colors("hsv2rgb: img", img)
    check_scale("hsv2rgb: img", img, 1)
    y = uninit_like(img)
    parallel_do(size(img, 0..1), y, img, hsv_to_rgb)
end

function [] = __kernel__ rgb_to_hsv(y : cube'unchecked, x : cube'unchecked, pos : ivec2)
    r = x[pos[0],pos[1],0]
    g = x[pos[0],pos[1],1]
    b = x[pos[0],pos[1],2]
    v = max(max(r, g), b)
    range = v - min(min(r, g), b)
    h = 0.0
    if range > 0
        if v == r
            h = (g-b)/range
        elseif v == g
            h = 2 + (b-r)/range
        else
            h = 4 + (r-g)/range
        endif
    endif
    y[pos[0],pos[1],0..2] = [mod(h/6, 1.0), v > 0 ? range/v : 0.0, v]
end

function [] = __kernel__ hsv_to_rgb(y : cube'unchecked, x : cube'unchecked, pos : ivec2)
    h = 6*x[pos[0],pos[1],0]
    s = x[pos[0],pos[1],1]
    v = x[pos[0],pos[1],2]
    y[pos[0],pos[1],0..2] = [hsv_channel(h, s, v, 5), hsv_channel(h, s, v, 3), hsv_channel(h, s, v, 1)]
end

function c = __device__ hsv_channel(h, s, v, n)
    k = mod(n+h, 6.0)
    c = v - v*s*max(0.0, min(min(k, 4-k), 1.0))
end
