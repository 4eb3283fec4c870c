% options: --loops always --explain
% A function that calls itself may write arrays.  If the code fails, the arrays are set back before the interpreter runs
% the call.
function [] = quicksort(v, lo, hi)
    if lo >= hi
        return
    end
    p = v[floor((lo+hi)/2)]
    i = lo
    j = hi
    while i <= j
        while v[i] < p
            i += 1
        end
        while v[j] > p
            j -= 1
        end
        if i <= j
            [v[i], v[j]] = [v[j], v[i]]
            i += 1
            j -= 1
        end
    end
    quicksort(v, lo, j)
    quicksort(v, i, hi)
end
v = mod((0..19)*7, 20)
quicksort(v, 0, 19)
print v

function [] = fill(a, i, j)
    if i < 0 || j < 0 || i >= size(a,0) || j >= size(a,1)
        return
    end
    if a[i,j] != 0
        return
    end
    a[i,j] = 2
    fill(a, i+1, j)
    fill(a, i-1, j)
    fill(a, i, j+1)
    fill(a, i, j-1)
end
a = zeros(4,5)
a[1,:] = 1
fill(a, 3, 3)
print a

function n = queens(b, k)
    n = 0
    if k == numel(b)
        n = 1
        return
    end
    for c = 0..numel(b)-1
        ok = true
        for r = 0..k-1
            ok = ok && b[r] != c && abs(b[r]-c) != k-r
        end
        if ok
            b[k] = c
            n += queens(b, k+1)
        end
    end
end
print queens(zeros(6), 0)

% an error after elements were written
function [] = countdown(v, n)
    v[n] += 1
    countdown(v, n-1)
end
v = zeros(1,5)
try
    countdown(v, 4)
catch e
    print e, " (line ", e.line, ")"
end
print v

% two names for one array, and views of it
function s = both(a, b, n)
    s = 0
    if n >= 0
        a[n] = n
        s = b[n] + both(a, b, n-1)
        b[n] += 1
    end
end
v = zeros(1,5)
print both(v, v, 4), " ", v
bytes = uint8([250,251,252])
function [] = add_all(x, n)
    if n >= 0
        x[n] += 4
        add_all(x, n-1)
    end
end
add_all(bytes, 2)
print bytes
