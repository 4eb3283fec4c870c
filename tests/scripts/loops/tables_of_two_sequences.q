% Tables whose rows run together read other arrays, too; if these share memory with the table, the rows run in order.
% options: --loops always --no-warnings
function D = distance(a, b, D)
    for i = 1..size(D,0)-1
        for j = 1..size(D,1)-1
            D[i,j] = min(min(D[i-1,j] + 1, D[i,j-1] + 1), D[i-1,j-1] + (a[i] != b[j]))
        end
    end
end
function D = common(a, b, D)
    for i = 1..size(D,0)-1
        for j = 1..size(D,1)-1
            if a[i] == b[j]
                D[i,j] = D[i-1,j-1] + 1
            else
                D[i,j] = max(D[i-1,j], D[i,j-1])
            end
        end
    end
end
function D = paths(cost, D)
    for i = 1..size(D,0)-1
        for j = 1..size(D,1)-1
            D[i,j] = cost[i,j] + min(min(D[i-1,j], D[i,j-1]), D[i-1,j-1])
        end
    end
end
function D = mixed(C, D)
    for i = 1..size(D,0)-2
        for j = 1..size(D,1)-2
            D[i,j] = 0.25*(D[i-1,j] + D[i,j-1] + D[i+1,j]) + 0.1*C[i+1,j-1] - 0.1*C[i-1,j+1]
        end
    end
end
function D = start(m, n)
    D = zeros(m, n)
    D[:,0] = transpose(0..m-1)
    D[0,:] = 0..n-1
end
function s = check(D)
    w = mod(7919*(0..numel(D)-1), 1009)
    s = sum(float64(reshape(D, numel(D))).*w)
end
for m = [1, 2, 5, 8, 21]
    for n = [2, 5, 13, 17, 18, 40]
        a = mod(7919*(0..m-1), 5)
        b = mod(104729*(0..n-1), 5)
        C = reshape(mod(31*(0..m*n-1), 17)/16, [m, n])
        printf("%d %d: %.15g %.15g", m, n, check(distance(a, b, start(m, n))), check(common(a, b, zeros(m, n))))
        D = paths(C, start(m, n))
        E = mixed(C, start(m, n))
        S = start(m, n)
        shared = mixed(S, S)
        T = start(m, n)
        printf("    %.15g %.15g %.15g %.15g", check(D), check(E), check(shared), check(paths(T, T)))
        u = zeros(m*n)
        printf("    %.15g", check(distance(u[0..m-1], b, start(m, n))))
    end
end
