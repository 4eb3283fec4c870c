% The nearest of several centres for each point.
function [X, C] = inputs()
    X = reshape(mod((0..29999)*7919, 1013)/1013, [10000,3])
    C = reshape(mod((0..23)*311, 101)/101, [8,3])
end
function y = with_elements(X, C)
    y = zeros(size(X, 0))
    for i = 0..size(X, 0)-1
        best = inf
        for k = 0..size(C, 0)-1
            d = 0
            for j = 0..size(X, 1)-1
                d += (X[i,j] - C[k,j])^2
            end
            if d < best
                best = d
                y[i] = k
            end
        end
    end
end
function y = with_slices(X, C)
    y = zeros(size(X, 0))
    for i = 0..size(X, 0)-1
        p = X[i,:]
        best = inf
        for k = 0..size(C, 0)-1
            d = sum((p - C[k,:]).^2)
            if d < best
                best = d
                y[i] = k
            end
        end
    end
end
function y = with_distances(X, C)
    K = size(C, 0)
    y = zeros(size(X, 0))
    for i = 0..size(X, 0)-1
        p = X[i,:]
        d = zeros(K)
        for k = 0..K-1
            c = C[k,:]
            d[k] = sum((p - c).^2)
        end
        [m, at] = min(d)
        y[i] = at
    end
end
function d = distance(p, q)
    d = 0
    for j = 0..numel(p)-1
        d += (p[j] - q[j])^2
    end
end
function y = with_function(X, C)
    y = zeros(size(X, 0))
    for i = 0..size(X, 0)-1
        best = inf
        for k = 0..size(C, 0)-1
            d = distance(X[i,:], C[k,:])
            if d < best
                best = d
                y[i] = k
            end
        end
    end
end
function y = with_matrix(X, C)
    y = zeros(size(X, 0))
    for i = 0..size(X, 0)-1
        d = sum((C - X[i,:]).^2, 1)
        y[i] = argmin(d)
    end
end
