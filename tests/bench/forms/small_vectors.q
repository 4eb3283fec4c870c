% Sums of cross products of neighbouring points.
function X = inputs()
    X = reshape(mod((0..29999)*7919, 1013)/1013, [10000,3])
end
function s = with_elements(X)
    s = zeros(3)
    for i = 1..size(X, 0)-1
        s[0] += X[i-1,1]*X[i,2] - X[i-1,2]*X[i,1]
        s[1] += X[i-1,2]*X[i,0] - X[i-1,0]*X[i,2]
        s[2] += X[i-1,0]*X[i,1] - X[i-1,1]*X[i,0]
    end
end
function s = with_zeros(X)
    s = zeros(3)
    for i = 1..size(X, 0)-1
        c = zeros(3)
        c[0] = X[i-1,1]*X[i,2] - X[i-1,2]*X[i,1]
        c[1] = X[i-1,2]*X[i,0] - X[i-1,0]*X[i,2]
        c[2] = X[i-1,0]*X[i,1] - X[i-1,1]*X[i,0]
        s = s + c
    end
end
function s = with_list(X)
    s = [0, 0, 0]
    for i = 1..size(X, 0)-1
        p = X[i-1,:]
        q = X[i,:]
        s += [p[1]*q[2] - p[2]*q[1], p[2]*q[0] - p[0]*q[2], p[0]*q[1] - p[1]*q[0]]
    end
end
function s = with_built_in(X)
    s = zeros(3)
    for i = 1..size(X, 0)-1
        s += cross(X[i-1,:], X[i,:])
    end
end
function s = with_counters(X)
    s = zeros(3)
    for i = 1..size(X, 0)-1
        c = zeros(1, 3)
        for j = 0..2
            k = mod(j + 1, 3)
            l = mod(j + 2, 3)
            c[0,j] = X[i-1,k]*X[i,l] - X[i-1,l]*X[i,k]
        end
        s = s + c[0,:]
    end
end
