function y = f(x)
    sum = 0.0
    for k = 0..numel(x)-1
        sum += x[k]
    end
    max = 3
    y = sum + max
end
print f([1,2,3])
print sum([1,2]), max([4,5])
lerp = (a, b, c) -> "mine"
print lerp(1,2,3)
