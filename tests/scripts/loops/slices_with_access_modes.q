% options: --loops always --explain
% Slices of variables with an access mode: short ones, those whose length is a variable; reading and writing.
function y = windows(v : mat'mirror, r)
    y = float64(zeros(size(v)))
    for i = 0..size(v,0)-1
        for j = 0..size(v,1)-1
            y[i,j] = sum(v[i-1..i+1, j-1..j+1]) + 1000*sum(v[i, j-r..j+r]) + max(v[i-r..i+r, j])
        end
    end
end
function y = reflected(v : mat[uint8]'reflect, r)
    y = float64(zeros(size(v)))
    for i = 0..size(v,0)-1
        for j = 0..size(v,1)-1
            y[i,j] = sum(v[i-r..i+r, j-r..j+r]) + numel(v[i, :])
        end
    end
end
function y = around(v : vec'circular)
    y = float64(zeros(numel(v)))
    for i = 0..numel(v)-1
        y[i] = sum(v[i-1..i+1] .* [1,2,1]) + sum(v[i+40..-2..i])
    end
end
function y = clamped(v : vec'clamped, r)
    y = float64(zeros(numel(v)))
    for i = 0..numel(v)-1
        y[i] = mean(v[i-r..i+r]) + v[-3..i][0]
    end
end
function y = safely(v : mat'safe, r)
    y = float64(zeros(size(v)))
    for i = 0..size(v,0)-1
        for j = 0..size(v,1)-1
            y[i,j] = sum(v[i-1..i+1, j-1..j+1]) + 1000*sum(v[i-r..i+r, j]) + any(v[i-3, j..j+1])
        end
    end
end
x = reshape(mod((0..11)*5, 13), [3,4])
print windows(x, 2)
print reflected(uint8(x), 2)
print around([1,2,3,40]), clamped([1,2,3,40], 1), clamped([5], 3)
print safely(x, 2)
% a window that is longer than the array, and more than 4096 elements
print clamped([1,2,4], 9), clamped([1,2,4], 3000)
% setting
function [] = set_all(y : vec'clamped, s : mat'safe, n)
    for i = 0..2
        y[i-1..i+1] = [i,10+i,20+i]
        s[i, i-1..i+1] = 7
        s[i-n..i, 3..3+n] += 1
    end
end
y = zeros(3)
s = zeros(3,4)
set_all(y, s, 1)
print y, s
function [] = mirrored(y : vec'mirror, n)
    for i = 0..2
        y[i-n..i+n] += 1
    end
end
y = zeros(3)
mirrored(y, 1)
print y
% an array without elements
function y = of_none(v : vec'clamped)
    y = zeros(2)
    for i = 0..1
        y[i] = sum(v[i..i-1])
        y[i] += sum(v[i..i+2])
    end
end
try
    print of_none(zeros(0))
catch e
    print e
end
