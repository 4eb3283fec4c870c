% Shortest paths between all pairs
import "../inputs.q"
function D = inputs(n)
    D = floor(1000*field(n, n)) + 1
end
function D = floyd_warshall(D)
    n = size(D, 0)
    D = copy(D)
    for k = 0..n-1
        for i = 0..n-1
            for j = 0..n-1
                D[i,j] = min(D[i,j], D[i,k] + D[k,j])
            end
        end
    end
end
