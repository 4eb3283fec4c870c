% Connected components of a mask by union-find.
function x = inputs()
    x = mod((reshape(0..16383, [128,128])*7919), 5) < 3
end
function r = root(p, i)
    r = i
    while p[r] != r
        r = p[r]
    end
end
function n = with_function(x)
    [h, w] = size(x)
    p = int(0..h*w-1)
    for i = 0..h-1
        for j = 0..w-1
            if x[i,j]
                if i > 0 && x[i-1,j]
                    a = root(p, i*w + j)
                    b = root(p, (i-1)*w + j)
                    p[max(a, b)] = min(a, b)
                end
                if j > 0 && x[i,j-1]
                    a = root(p, i*w + j)
                    b = root(p, i*w + j - 1)
                    p[max(a, b)] = min(a, b)
                end
            end
        end
    end
    n = 0
    for i = 0..h-1
        for j = 0..w-1
            if x[i,j] && p[i*w + j] == i*w + j
                n += 1
            end
        end
    end
end
function n = with_loops(x)
    [h, w] = size(x)
    p = 0..h*w-1
    for i = 0..h-1
        for j = 0..w-1
            if x[i,j]
                a = i*w + j
                if i > 0 && x[i-1,j]
                    b = a - w
                    while p[b] != b
                        b = p[b]
                    end
                    while p[a] != a
                        a = p[a]
                    end
                    p[max(a,b)] = min(a,b)
                end
                a = i*w + j
                if j > 0 && x[i,j-1]
                    b = a - 1
                    while p[b] != b
                        b = p[b]
                    end
                    while p[a] != a
                        a = p[a]
                    end
                    p[max(a,b)] = min(a,b)
                end
            end
        end
    end
    n = 0
    for k = 0..h*w-1
        if x[floor(k/w),mod(k,w)] && p[k] == k
            n += 1
        end
    end
end
function r = find_root(p, i)
    if p[i] != i
        p[i] = find_root(p, p[i])
    end
    r = p[i]
end
function [] = unite(p, a, b)
    a = find_root(p, a)
    b = find_root(p, b)
    if a < b
        p[b] = a
    else
        p[a] = b
    end
end
function n = with_recursion(x)
    [h, w] = size(x)
    p = int(0..h*w-1)
    for i = 0..h-1
        for j = 0..w-1
            if x[i,j]
                k = i*w + j
                if i > 0 && x[i-1,j]
                    unite(p, k, k - w)
                end
                if j > 0 && x[i,j-1]
                    unite(p, k, k - 1)
                end
            end
        end
    end
    n = sum(x && reshape(p == 0..h*w-1, [h,w]))
end
