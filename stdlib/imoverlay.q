% Module: imoverlay.q
% Pictures of labels, masks and pairs of images. Colors are names, "#ff8000" or [red, green, blue] from 0 to 1; pictures
% have values from 0 to peak, 255 unless it is given, and can be shown by imshow and written by imwrite.
import "check.q"
import "colortransform.q"
import "matfun.q"

function c = overlay_color(what, color)
    names = {"red","r", "green","g", "blue","b", "cyan","c", "magenta","m", "yellow","y", "black","k", "white","w"}
    values = float64([[1,0,0],[0,1,0],[0,0,1],[0,1,1],[1,0,1],[1,1,0],[0,0,0],[1,1,1]])
    if isstring(color)
        if startswith(color, "#") && strlen(color) == 7
            c = hex2dec({color[1..2], color[3..4], color[5..6]})/255
        else
            [known, k] = ismember(color, names)
            assert(known, what,
                   ": the color must be red, green, blue, cyan, magenta, yellow, black, white, ",
                   "#rrggbb or [red, green, blue], got ", color)
            c = values[int(floor(k/2)),:]
        endif
    else
        assert(check_real(color) && numel(color) == 3, what, ": the color must be a name or [red, green, blue], got ",
               check_got(color))
        assert(all(color >= 0 && color <= 1), what, ": red, green and blue must be 0 to 1, got ", color)
        c = float64(reshape(color, [1,3]))
    endif
end

% Function: label2rgb
% A picture of labels, a color for each.
%
% Parameters:
% L - labels from 1 on, 0 elsewhere, e.g. from bwlabel, watershed or slic
% map - a row [red, green, blue] per label, from 0 to 1, or a name: "jet" (dark blue to dark red), "hsv" (hues), "gray",
%     "cool", "spring", "summer", "autumn", "winter", with the colors of MATLAB
% zerocolor - the color of 0
% order - "noshuffle", or "shuffle": neighbouring numbers get different colors, always the same ones
% peak - white
%
% Returns:
% y - height x width x 3; skimage.color.label2rgb has other colors, and black for 0
function y = label2rgb(L : mat, map = "jet", zerocolor = "white", order : string = "noshuffle", peak : scalar = 255)
    check_each("label2rgb: L must have labels, integers of at least 0", L, L >= 0 && L == floor(L) && L < inf)
    n = numel(L) > 0 ? max(max(L), 1) : 1
    assert(n <= 1e6, "label2rgb: L must have labels up to 1000000, got ", n, "; [v, i, k] = unique(L) numbers them by k")
    if isstring(map)
        map = label_colors(map, n)
    else
        assert(check_real(map) && size(map,1) == 3 && size(map,0) >= n && ndims(map) <= 2,
               "label2rgb: map must have a row [red, green, blue] ", _
               "for each of ", n, " labels, got size ", isnumeric(map) ? size(map) : type(map))
        check_each("label2rgb: map must have values from 0 to 1", map, map >= 0 && map <= 1)
    endif
    assert(order == "shuffle" || order == "noshuffle", "label2rgb: order must be shuffle or noshuffle, got ", order)
    if order == "shuffle"
        map = map[int(shuffled(n)),:]
    endif
    map = peak*vertcat(overlay_color("label2rgb: zerocolor", zerocolor), float64(map))
    y = reshape(map[int(reshape(L, [1,numel(L)])),:], [size(L,0),size(L,1),3])
end

function map = label_colors(name, n)
    t = transpose(float64(0..n-1))/max(n-1, 1)
    match name with
    | "jet" -> map = jet_colors(n)
    | "hsv" -> map = hue_colors(n)
    | "gray" -> map = horzcat(t, t, t)
    | "cool" -> map = horzcat(t, 1-t, 0*t+1)
    | "spring" -> map = horzcat(0*t+1, t, 1-t)
    | "summer" -> map = horzcat(t, 0.5+t/2, 0*t+0.4)
    | "autumn" -> map = horzcat(0*t+1, t, 0*t)
    | "winter" -> map = horzcat(0*t, t, 1-t/2)
    | _ -> error("label2rgb: map must be jet, hsv, gray, cool, spring, summer, autumn, winter or a matrix of colors, ",
                 "got ", name)
    end
end

% The numbers 0 … n-1 in steps of about the golden section, which has no factor in common with n.
function k = shuffled(n)
    step = round(0.618*n)
    while n > 2 && gcd(step, n) > 1
        step += 1
    end
    k = mod(float64(0..n-1)*max(step, 1), n)
end

% n colors from dark blue over cyan and yellow to dark red: three trapezoids with slopes of ceil(n/4) steps.
function map = jet_colors(n)
    m = ceil(n/4)
    u = horzcat(float64(1..m)/m, float64(ones(m-1)), float64(m..-1..1)/m)
    first = ceil(m/2) - (mod(n, 4) == 1 ? 1 : 0)
    map = float64(zeros(n, 3))
    for k = 0..numel(u)-1
        for c = 0..2
            at = first + k + (1-c)*m
            if at >= 0 && at < n
                map[at,c] = u[k]
            endif
        end
    end
end

function map = hue_colors(n)
    h = 6*float64(0..n-1)/n
    map = transpose(vertcat(clamp(abs(h - 3) - 1, 0, 1), clamp(2 - abs(h - 2), 0, 1), clamp(2 - abs(h - 4), 0, 1)))
end

% Three equal channels for a grey image; a picture stays as it is.
function y = overlay_picture(what, img)
    assert(size(img,2) == 1 || size(img,2) == 3, what, " must be height x width or height x width x 3, got size ",
           size(img))
    y = size(img,2) == 3 ? img : repmat(img, [1,1,3])
end

% Function: imoverlay
% An image with the pixels of a mask in a color.
%
% Parameters:
% img - height x width or height x width x 3
% mask - height x width
% color - a name as "yellow", "#ff8000" or [red, green, blue] from 0 to 1
% peak - white; null is 255
function y = imoverlay(img : cube, mask : mat, color = "yellow", peak = null)
    check_alike("imoverlay: img and mask", img[:,:,0], mask)
    peak = scale_of("imoverlay: img", img, peak, 255)
    y = overlay_picture("imoverlay: img", img)
    c = reshape(peak*overlay_color("imoverlay", color), [1,1,3])
    y = mask != 0 ? c : y
end

% Function: imfuse
% Two images of one size in one picture.
%
% Parameters:
% a, b - height x width or height x width x 3
% method - "falsecolor": a in green, b in red and blue (magenta), grey where both are alike; "blend": their mean;
%     "diff": the difference without sign, of grey images; "montage": beside each other; "checkerboard"
% scaling - "independent": each is stretched from 0 to peak; "none"
% peak - white
function y = imfuse(a : cube, b : cube, method : string = "falsecolor", scaling : string = "independent",
                    peak : scalar = 255)
    check_alike("imfuse: a and b", a[:,:,0], b[:,:,0])
    assert(scaling == "independent" || scaling == "none", "imfuse: scaling must be independent or none, got ", scaling)
    check_filled("imfuse: a", a)
    stretch = x -> scaling == "none" ? x : max(x) > min(x) ? peak*(x - min(x))/(max(x) - min(x)) : 0*x
    grey = x -> stretch(size(x,2) == 3 ? rgb2gray(x) : x)
    match method with
    | "falsecolor" -> y = cat(2, grey(b), grey(a), grey(b))
    | "diff" -> y = abs(grey(a) - grey(b))
    | "blend" | "montage" | "checkerboard" ->
        if size(a,2) != size(b,2)
            [a, b] = {overlay_picture("imfuse: a", a), overlay_picture("imfuse: b", b)}
        endif
        [a, b] = {stretch(a), stretch(b)}
        if method == "blend"
            y = (a + b)/2
        elseif method == "montage"
            y = horzcat(a, b)
        else
            [i, j] = {transpose(floor(float64(0..size(a,0)-1)*8/size(a,0))), floor(float64(0..size(a,1)-1)*8/size(a,1))}
            y = mod(i + j, 2) == 0 ? a : b
        endif
    | _ -> error("imfuse: method must be falsecolor, blend, diff, montage or checkerboard, got ", method)
    end
end
