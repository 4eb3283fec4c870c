% exit: 1
function [] = __kernel__ third(x : vec, pos : int)
    x[pos] /= 3
end
function [] = __kernel__ total(x : vec, s : vec, pos : int)
    s[0] += x[pos]
end
s = zeros(1)
parallel_do(4, int([1,2,3,4]), s, total)
print s
parallel_do(4, int([1,2,3,4]), third)
