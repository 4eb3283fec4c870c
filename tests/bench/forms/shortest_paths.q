% The lengths of the shortest paths between all pairs of nodes.
function d = inputs()
    d = reshape(mod((0..22499)*7919, 1009) + 1, [150,150])
end
function d = with_for(d)
    d = copy(d)
    n = size(d, 0)
    for k = 0..n-1
        for i = 0..n-1
            for j = 0..n-1
                d[i,j] = min(d[i,j], d[i,k] + d[k,j])
            end
        end
    end
end
function d = with_if(d)
    d = copy(d)
    n = size(d, 0)
    for k = 0..n-1
        for i = 0..n-1
            for j = 0..n-1
                t = d[i,k] + d[k,j]
                if t < d[i,j]
                    d[i,j] = t
                end
            end
        end
    end
end
function d = with_rows(d)
    d = copy(d)
    n = size(d, 0)
    for k = 0..n-1
        for i = 0..n-1
            d[i,:] = min(d[i,:], d[i,k] + d[k,:])
        end
    end
end
function d = with_table(d)
    d = copy(d)
    for k = 0..size(d,0)-1
        d = min(d, d[:,k] + d[k,:])
    end
end
