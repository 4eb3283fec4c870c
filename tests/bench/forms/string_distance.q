% The Levenshtein distance of two strings.
function [s, t] = inputs()
    s = ""
    t = ""
    for i = 0..299
        s = s + "abcdefgh"[mod(i*7919, 8)]
        t = t + "abcdefgh"[mod(i*i*31, 8)]
    end
end
function d = with_strings(s, t)
    m = strlen(s)
    n = strlen(t)
    D = zeros(m+1, n+1)
    for i = 0..m
        D[i,0] = i
    end
    for j = 0..n
        D[0,j] = j
    end
    for i = 1..m
        for j = 1..n
            cost = s[i-1] == t[j-1] ? 0 : 1
            D[i,j] = min(min(D[i-1,j] + 1, D[i,j-1] + 1), D[i-1,j-1] + cost)
        end
    end
    d = D[m,n]
end
function d = with_rows(s, t)
    n = strlen(t)
    before = float32(0..n)
    row = zeros(n+1)
    for i = 1..strlen(s)
        row[0] = i
        for j = 1..n
            if s[i-1] == t[j-1]
                row[j] = before[j-1]
            else
                row[j] = 1 + min(before[j-1], min(before[j], row[j-1]))
            end
        end
        x = before
        before = row
        row = x
    end
    d = before[n]
end
function d = with_codes(s, t)
    a = toascii(s)
    b = toascii(t)
    m = numel(a)
    n = numel(b)
    D = zeros(m+1, n+1)
    for i = 0..m
        D[i,0] = i
    end
    for j = 0..n
        D[0,j] = j
    end
    for i = 1..m
        for j = 1..n
            cost = a[i-1] == b[j-1] ? 0 : 1
            D[i,j] = min(min(D[i-1,j] + 1, D[i,j-1] + 1), D[i-1,j-1] + cost)
        end
    end
    d = D[m,n]
end
function d = with_while(s, t)
    m = strlen(s)
    n = strlen(t)
    row = zeros(n+1)
    j = 0
    while j <= n
        row[j] = j
        j += 1
    end
    i = 1
    while i <= m
        corner = row[0]
        row[0] = i
        j = 1
        while j <= n
            old = row[j]
            if s[i-1] == t[j-1]
                row[j] = corner
            else
                row[j] = 1 + min(corner, min(old, row[j-1]))
            end
            corner = old
            j += 1
        end
        i += 1
    end
    d = row[n]
end
