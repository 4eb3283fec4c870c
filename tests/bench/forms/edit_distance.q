% The Levenshtein distance of two sequences.
function [a, b] = inputs()
    a = int(mod((0..699)*7919, 26))
    b = int(mod((0..699)*7907, 26))
end
function d = with_matrix(a, b)
    m = numel(a)
    n = numel(b)
    t = zeros(m+1, n+1)
    for i = 0..m
        t[i,0] = i
    end
    for j = 0..n
        t[0,j] = j
    end
    for i = 1..m
        for j = 1..n
            cost = a[i-1] == b[j-1] ? 0 : 1
            t[i,j] = min(min(t[i-1,j] + 1, t[i,j-1] + 1), t[i-1,j-1] + cost)
        end
    end
    d = t[m,n]
end
function d = with_rows(a, b)
    n = numel(b)
    before = int(0..n)
    for i = 1..numel(a)
        row = int(zeros(1, n+1))
        row[0] = i
        for j = 1..n
            k = before[j-1]
            if a[i-1] != b[j-1]
                k += 1
            end
            if before[j] + 1 < k
                k = before[j] + 1
            end
            if row[j-1] + 1 < k
                k = row[j-1] + 1
            end
            row[j] = k
        end
        before = row
    end
    d = before[n]
end
function k = smallest(a, b, c)
    k = a
    if b < k
        k = b
    end
    if c < k
        k = c
    end
end
function d = with_function(a, b)
    m = numel(a)
    n = numel(b)
    t = int(zeros(m+1, n+1))
    for i = 0..m
        t[i,0] = i
    end
    for j = 0..n
        t[0,j] = j
    end
    for i = 1..m
        for j = 1..n
            t[i,j] = smallest(t[i-1,j] + 1, t[i,j-1] + 1, t[i-1,j-1] + (a[i-1] != b[j-1]))
        end
    end
    d = t[m,n]
end
function d = with_one_row(a, b)
    n = numel(b)
    row = 0..n
    for i = 1..numel(a)
        corner = row[0]
        row[0] = i
        for j = 1..n
            above = row[j]
            if a[i-1] == b[j-1]
                row[j] = corner
            else
                row[j] = 1 + min(corner, min(above, row[j-1]))
            end
            corner = above
        end
    end
    d = row[n]
end
