% rotation of an image with bilinear interpolation
function img = inputs()
    img = reshape(mod((0..65535)*73, 255)/255, [256,256])
end
function out = with_loops(img)
    [h, w] = size(img)
    out = zeros(h, w)
    c = cos(0.3)
    s = sin(0.3)
    for y = 0..h-1
        for x = 0..w-1
            u = c*(y-128) - s*(x-128) + 128
            v = s*(y-128) + c*(x-128) + 128
            i = floor(u)
            j = floor(v)
            if i >= 0 && i < h-1 && j >= 0 && j < w-1
                a = u - i
                b = v - j
                out[y,x] = (1-a)*((1-b)*img[i,j] + b*img[i,j+1]) + a*((1-b)*img[i+1,j] + b*img[i+1,j+1])
            end
        end
    end
end
function r = sample(img, u, v)
    i = floor(u)
    j = floor(v)
    if i < 0 || i >= size(img,0)-1 || j < 0 || j >= size(img,1)-1
        r = 0
        return
    end
    a = u - i
    b = v - j
    r = (1-a)*((1-b)*img[i,j] + b*img[i,j+1]) + a*((1-b)*img[i+1,j] + b*img[i+1,j+1])
end
function out = with_function(img)
    [h, w] = size(img)
    out = zeros(h, w)
    for y = 0..h-1
        for x = 0..w-1
            out[y,x] = sample(img, cos(0.3)*(y-128) - sin(0.3)*(x-128) + 128, sin(0.3)*(y-128) + cos(0.3)*(x-128) + 128)
        end
    end
end
function out = with_kernel(img)
    function [] = __kernel__ rotate(img : mat, out : mat, c : scalar, s : scalar, pos : ivec2)
        u = c*(pos[0]-128) - s*(pos[1]-128) + 128
        v = s*(pos[0]-128) + c*(pos[1]-128) + 128
        i = int(floor(u))
        j = int(floor(v))
        if i >= 0 && i < size(img,0)-1 && j >= 0 && j < size(img,1)-1
            a = u - i
            b = v - j
            out[pos] = (1-a)*((1-b)*img[i,j] + b*img[i,j+1]) + a*((1-b)*img[i+1,j] + b*img[i+1,j+1])
        end
    end
    out = zeros(size(img))
    parallel_do(size(img), img, out, cos(0.3), sin(0.3), rotate)
end
function out = with_while(img)
    h = size(img, 0)
    w = size(img, 1)
    out = zeros(h, w)
    y = 0
    while y < h
        x = 0
        while x < w
            u = cos(0.3)*(y-128) - sin(0.3)*(x-128) + 128
            v = sin(0.3)*(y-128) + cos(0.3)*(x-128) + 128
            i = int(floor(u))
            j = int(floor(v))
            if i >= 0 && i < h-1 && j >= 0 && j < w-1
                a = u - i
                b = v - j
                out[y,x] = (1-a)*((1-b)*img[i,j] + b*img[i,j+1]) + a*((1-b)*img[i+1,j] + b*img[i+1,j+1])
            end
            x += 1
        end
        y += 1
    end
end
function out = with_continue(img)
    [h, w] = size(img)
    out = zeros(h, w)
    angle = 0.3
    c = cos(angle)
    s = sin(angle)
    for y = 0..h-1
        for x = 0..w-1
            u = c*(y-128) - s*(x-128) + 128
            v = s*(y-128) + c*(x-128) + 128
            i = floor(u)
            j = floor(v)
            if i < 0 || i >= h-1 || j < 0 || j >= w-1
                continue
            end
            a = u - i
            b = v - j
            out[y,x] = (1-a)*((1-b)*img[i,j] + b*img[i,j+1]) + a*((1-b)*img[i+1,j] + b*img[i+1,j+1])
        end
    end
end
