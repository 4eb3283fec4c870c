% devices: one
function [] = __kernel__ last(x : vec, c : vec'circular, y : vec, pos : int)
    y[pos] = x[-1] + c[-1]
end
y = zeros(2)
parallel_do(2, [1,2], [3,4], y, last)
print y
