% The mean of three neighbours.
function x = inputs()
    x = mod(0..999999, 251)/8
end
function y = with_for(x)
    n = numel(x)
    y = zeros(1, n)
    for i = 1..n-2
        y[i] = (x[i-1] + x[i] + x[i+1])/3
    end
end
function y = with_slices(x)
    n = numel(x)
    y = zeros(1, n)
    y[1..n-2] = (x[0..n-3] + x[1..n-2] + x[2..n-1])/3
end
function y = with_while(x)
    n = numel(x)
    y = zeros(1, n)
    i = 1
    while i < n-1
        y[i] = (x[i-1] + x[i] + x[i+1])/3
        i = i + 1
    end
end
function [] = __kernel__ mean_of_three(x, y, pos : int)
    if pos > 0 && pos < numel(x)-1
        y[pos] = (x[pos-1] + x[pos] + x[pos+1])/3
    end
end
function y = with_kernel(x)
    y = zeros(1, numel(x))
    parallel_do(numel(x), x, y, mean_of_three)
end
