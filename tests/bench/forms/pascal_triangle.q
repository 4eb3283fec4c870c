% A row of Pascal's triangle, modulo a prime.
function [n] = inputs()
    n = 500
end
function v = table_for(n)
    t = zeros(n+1, n+1)
    for i = 0..n
        t[i,0] = 1
        for j = 1..i
            t[i,j] = mod(t[i-1,j-1] + t[i-1,j], 1000003)
        end
    end
    v = t[n,:]
end
function v = table_int(n)
    t = int(zeros(n+1, n+1))
    i = 0
    while i <= n
        t[i,0] = 1
        j = 1
        while j <= i
            s = t[i-1,j-1] + t[i-1,j]
            if s >= 1000003
                s -= 1000003
            end
            t[i,j] = s
            j += 1
        end
        i += 1
    end
    v = t[n,:]
end
function v = one_row(n)
    v = zeros(1, n+1)
    v[0] = 1
    for i = 1..n
        for j = i..-1..1
            v[j] = mod(v[j] + v[j-1], 1000003)
        end
    end
end
function v = with_slices(n)
    v = zeros(1, n+1)
    v[0] = 1
    for i = 1..n
        v[1..i] = mod(v[1..i] + v[0..i-1], 1000003)
    end
end
