function y = middle[T](x : vec[T])
    y = x[int(numel(x)/2)]
end
print middle([1,2,3])
print middle({"a","b","c"})
function y = fresh[T](x : vec[T], n : int)
    y = vec[T](n)
end
print fresh([1,2], 3)
