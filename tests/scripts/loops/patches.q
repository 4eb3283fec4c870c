% options: --loops always --explain
% Slices of a matrix with a known size and an unknown position.
function y = spread(img)
    [H,W] = size(img,0..1)
    y = zeros(H,W)
    for i=1..H-2
        for j=1..W-2
            p = img[i-1..i+1, j-1..j+1]
            y[i,j] = max(p) - min(p) + sum(p)/16 + p[0,2]
        end
    end
end
function y = five(img)
    [H,W] = size(img,0..1)
    y = zeros(H,W)
    for [i,j]=2..[H-3,W-3]
        p = img[i-2..i+2, j-2..j+2]
        y[i,j] = mean(p) + prod(p[1,:]) + norm(img[i,j-2..j+2]) + sum(transpose(p)) + max(abs(p-3))
    end
end
function y = windows(x)
    y = zeros(numel(x))
    for i=10..numel(x)-11
        w = x[i-10..i+10]
        y[i] = sum(w) + dotprod(w, w) + norm(w) + mean(w) + prod(w/4) + max(w) + min(w)
    end
end
function y = copied(img)
    y = zeros(size(img))
    for i=0..2..size(img,0)-2
        y[i..i+1,0..1] = img[i..i+1,2..3]
        y[i..i+1,4..5] += 2
        y[i..i+1,3] = 7
    end
end
function y = colours(img)
    y = zeros(size(img,0..1))
    for i=0..size(img,0)-2
        y[i,0] = sum(img[i..i+1,0..1,1]) + sum(img[i,1,:])
    end
end
function y = outside(img, d)
    y = 0.0
    for i=0..3
        y += sum(img[i+d..i+d+1, 1..3])
    end
end
function y = outside2(x)
    y = 0.0
    for i=0..3
        y += sum(x[i-1..i+1])
    end
end
function y = guarded(img)
    [H,W] = size(img,0..1)
    y = zeros(H,W)
    for i=0..H-1
        for j=0..W-1
            if i>0 && i<H-1 && j>0 && j<W-1
                y[i,j] = sum(img[i-1..i+1, j-1..j+1])
            end
        end
    end
end
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
img = mod(reshape(0..41,[6,7])*0.7548776662466927, 1)*9
x = reshape(transpose(img), 42)
print round(1000*spread(img))
print round(1000*five(img))
print round(1000*windows(x))
print copied(floor(img))
print colours(reshape(0..53,[3,6,3]))
print round(1000*guarded(img))
a = () -> outside(img, 0)
b = () -> outside(img, 3)
c = () -> outside(img, -2)
d = () -> outside2(x)
attempt(a)
attempt(b)
attempt(c)
attempt(d)
