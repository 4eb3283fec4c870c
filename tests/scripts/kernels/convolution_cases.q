% part
% Convolutions and their gradients: built-ins and kernels of planes.q, compared with loops written from the definition.
wave = (n, k) -> sin(float64(1..n)*k)*2

% Zeros around images are terms of the sums; results outside the output contribute nothing.
function [y, dx, dw] = defined(x, w, b, dy, out, stride, pad, dilation, groups)
    [n, c, h, wd] = size(x, 0..3)
    [m, e, kh, kw] = size(w, 0..3)
    y = zeros_like(x, n, m, out[0], out[1])
    dx = zeros_like(x)
    dw = zeros_like(w)
    for k = 0..n-1
        for o = 0..m-1
            first = floor(o/(m/groups))*e
            for p = 0..out[0]-1
                for q = 0..out[1]-1
                    total = b[o]
                    for g = 0..e-1
                        for i = 0..kh-1
                            for j = 0..kw-1
                                r = p*stride[0] + i*dilation[0] - pad[0]
                                s = q*stride[1] + j*dilation[1] - pad[1]
                                v = 0
                                if r >= 0 && r < h && s >= 0 && s < wd
                                    v = x[k,first+g,r,s]
                                    dx[k,first+g,r,s] += dy[k,o,p,q]*w[o,g,i,j]
                                end
                                total += v*w[o,g,i,j]
                                dw[o,g,i,j] += v*dy[k,o,p,q]
                            end
                        end
                    end
                    y[k,o,p,q] = total
                end
            end
        end
    end
end

function good = near(a, b, bound)
    a = float64(a)
    same = isnan(a) == isnan(b) && (isnan(b) || a == b || abs(a - b) <= bound)
    good = isequal(size(a), size(b)) && all(same)
end

% kinds: float32 (false), float64 (true); ways: by CPU loops (never), by kernels (always).  Cases that agree
% print "as defined".
function said = compared(s, kernel, stride, pad, dilation, groups, odd, wide, ways)
    w0 = [kernel[0], s[1]/groups, kernel[1], kernel[2]]
    x = reshape(wave(prod(s), 0.7), s)
    w = reshape(wave(prod(w0), 1.3), w0)
    b = wave(kernel[0], 0.3)
    out = floor((s[2..3] + 2*pad - dilation.*(kernel[1..2]-1) - 1)./stride) + 1
    d0 = [s[0], kernel[0], out[0], out[1]]
    dy = reshape(wave(prod(d0), 1.9), d0)
    if odd == "x"
        x[0,0,0,0] = nan
        x[0,s[1]-1,s[2]-1,1] = inf
    elseif odd == "dy"
        dy[0,0,0,0] = nan
        dy[s[0]-1,0,out[0]-1,out[1]-1] = -inf
    elseif odd == "w"
        w[0,0,0,0] = nan
    end
    [y, dx, dw] = defined(x, w, b, dy, out, stride, pad, dilation, groups)
    real = v -> wide ? v : float32(v)
    bound = (wide ? 1e-13 : 2e-6)*numel(dy)
    said = "as defined"
    for way = ways
        setenv("QUASAR_LIBRARIES", way)
        good = [near(conv_planes(real(x), real(w), stride, pad, dilation, groups, real(b)), y, bound), _
                near(conv_planes_input(real(dy), real(w), s, stride, pad, dilation, groups), dx, bound), _
                near(conv_planes_weights(real(x), real(dy), w0, stride, pad, dilation, groups), dw, bound)]
        if !all(good)
            said = sprintf("%s: %s", way, good)
        end
    end
end

function [] = compare(name, s, kernel, stride, pad, dilation, groups, odd, kinds = {false, true}, ways = {"never", "always"})
    for wide = kinds
        print name, " ", odd, wide ? " float64: " : " float32: ", _
              compared(s, kernel, stride, pad, dilation, groups, odd, wide, ways)
    end
end

% Strides, paddings and dilations of all kinds: also strides larger than the extent of the weights.
function [] = compare_random(count, ways)
    seed = 7
    for i = 1..count
        r = zeros(12)
        for k = 0..11
            seed = mod(seed*16807, 2147483647)
            r[k] = mod(floor(seed/64), 60)
        end
        kernel = mod(r[0..1], 4) + 1
        stride = mod(r[2..3], 6) + 1
        dilation = mod(r[4..5], 6) + 1
        pad = mod(r[6..7], 5)
        size = max(dilation.*(kernel-1) + 1 - 2*pad, 1) + mod(r[8..9], 6)
        groups = mod(r[10], 2) + 1
        rows = mod(r[11], 5) + 1
        said = compared([1,2,size[0],size[1]], [groups*rows,kernel[0],kernel[1]], stride, pad, dilation, groups, "", _
                        false, ways)
        if said != "as defined"
            print [kernel, stride, dilation, pad, size], " ", groups, " ", rows, " ", said
        end
    end
    print count, " at random"
end

% The gradient of a bias is the sum of each channel; a float32 sum of many equal numbers loses more and more digits.
function [] = compare_bias(ways = {"never", "always"})
    x = float32(ones(2,2,60000,1)*0.1)
    for way = ways
        setenv("QUASAR_LIBRARIES", way)
        [y, pull] = vjp(b -> conv_planes(x, ones(2,2,1,1), 1, 0, 1, 1, b), float32(zeros(2)))
        print abs(float64(pull(x))/(float64(float32(0.1))*120000) - 1) < 2e-6, " ", _
              conv_planes_bias(reshape(float64(0..23), [2,3,2,2])), " ", conv_planes_bias(ones(1,2,1,1))
    end
end
