% The Cholesky factor of a matrix.
function a = inputs()
    n = 240
    a = zeros(n, n)
    for i = 0..n-1
        for j = 0..n-1
            a[i,j] = 1/(1 + abs(i-j))
        end
        a[i,i] = n
    end
end
function l = with_for(a)
    n = size(a, 0)
    l = zeros(n, n)
    for i = 0..n-1
        for j = 0..i
            s = a[i,j]
            for k = 0..j-1
                s -= l[i,k]*l[j,k]
            end
            if i == j
                l[i,i] = sqrt(s)
            else
                l[i,j] = s/l[j,j]
            end
        end
    end
end
function l = with_while(a)
    n = size(a, 0)
    l = zeros(n, n)
    for i = 0..n-1
        for j = 0..i
            s = a[i,j]
            k = 0
            while k < j
                s = s - l[i,k]*l[j,k]
                k += 1
            end
            l[i,j] = i == j ? sqrt(s) : s/l[j,j]
        end
    end
end
function l = with_slices(a)
    n = size(a, 0)
    l = zeros(n, n)
    for i = 0..n-1
        for j = 0..i
            s = a[i,j] - (j > 0 ? sum(l[i,0..j-1].*l[j,0..j-1]) : 0)
            l[i,j] = i == j ? sqrt(s) : s/l[j,j]
        end
    end
end
function s = rest(l, s, i, j)
    for k = 0..j-1
        s -= l[i,k]*l[j,k]
    end
end
function l = with_function(a)
    n = size(a, 0)
    l = zeros(n, n)
    for i = 0..n-1
        for j = 0..i
            s = rest(l, a[i,j], i, j)
            l[i,j] = i == j ? sqrt(s) : s/l[j,j]
        end
    end
end
