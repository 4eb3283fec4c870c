% Insertions, deletions and changes between two texts
import "../inputs.q"
function [a, b] = inputs(n)
    a = integers(n, 20)
    b = integers(n, 20, 53)
end
function y = edit_distance(a, b)
    m = numel(a)
    n = numel(b)
    row = int(0..n)
    for i = 1..m
        corner = row[0]
        row[0] = i
        for j = 1..n
            cost = corner
            if a[i-1] != b[j-1]
                cost += 1
            end
            corner = row[j]
            row[j] = min(cost, min(row[j] + 1, row[j-1] + 1))
        end
    end
    y = row[n]
end
