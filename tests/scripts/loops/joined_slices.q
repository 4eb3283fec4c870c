% options: --explain --loops always
% devices: cpu opencl
% exit: 3
% horzcat and circshift of slices and short vectors make arrays in a loop; arrays set to them keep their memory.
function [line, y] = filter_line(x, n)
    line = zeros(n)
    y = zeros(numel(x))
    for k = 0..numel(x)-1
        line = horzcat([x[k]], line[0..n-2])
        y[k] = sum(line)
    end
end
function [line, s] = windows(x, n)
    line = ones(n)
    s = 0
    for k = 0..numel(x)-1
        line = horzcat(line[1..n-1], x[k])
        s += sum(horzcat(x[0..2], line, 1))
        line = circshift(line, k - 3)
    end
end
function [v, w] = short(x)
    v = [1,2,3,4]
    w = float64([1,2,3])
    for k = 0..numel(x)-1
        v = circshift(horzcat(x[k], v[0..2]), k)
        w = horzcat(w[1..2], x[k]/2)
    end
end
function [line, before] = shared(n)
    line = ones(n)
    before = line
    for k = 1..3
        line = circshift(line, 1)
        line[0] = k
    end
end
function line = of_other_length(n)
    line = ones(n)
    for k = 1..3
        line = horzcat(line, k)
    end
end
x = mod((0..9)*7, 11)
[line, y] = filter_line(x, 40)
print line[0..11], y[8..9]
[line, s] = windows(x, 40)
print line[0..11], s
[v, w] = short(x)
print v, w, type(w)
[line, before] = shared(40)
print line[0..4], before[0..4]
line = of_other_length(40)
print numel(line), line[39..42]
try
    for k = 0..4
        v = circshift(v, k/2)
    end
catch e
    print e
end
print v, k
exit(3)
