function y = scale(x, factor)
    function [] = __kernel__ k(pos : int)
        y[pos] = x[pos]*factor + numel(x)
    end
    y = zeros(size(x))
    parallel_do(numel(x), k)
end
print scale([1,2,3], 10)
