% options: --loops auto --explain --threads 1
% devices: cpu
% A loop that calls a function that calls itself copies the arrays that it writes.  Its work includes its inner loops.
function r = find_root(parent, i)
    r = parent[i] == i ? i : find_root(parent, parent[i])
end
function labels = label(parent, n)
    labels = zeros(n, n)
    for i = 0..n-1
        for j = 0..n-1
            labels[i,j] = find_root(parent, i*n + j)
        end
    end
end
n = 200
parent = int(max(0, (0..n*n-1) - 7*mod(0..n*n-1, 3)))
for k = 1..4
    labels = label(parent, n)
end
print labels[199,190..199], " ", sum(labels)
