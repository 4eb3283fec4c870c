% Loops that neighbouring positions share and in which they read elements through tables: strips with gathers.
function [] = __kernel__ weighted(y : mat, x : mat, at : mat[int], w : mat, pos : ivec2)
    total = 0.0
    for k = 0..size(w,0)-1
        total += w[k,pos[1]]*x[pos[0],at[k,pos[1]]]
    end
    y[pos] = total
end

function [] = __kernel__ bytes(y : mat[int], x : mat[uint8]'clamped, at : mat[int], pos : ivec2)
    total = 0
    for k = 0..size(at,0)-1
        total += x[pos[0],at[k,pos[1]]-2]
    end
    y[pos] = total
end

% A table of a table, a condition, and a loop that ends early.
function [] = __kernel__ twice(y : vec[int], x : vec[int], at : mat[int], via : vec[int], pos : int)
    total = 0
    for k = 0..size(at,0)-1
        p = at[k,pos]
        if p > 2
            total = 3*total + x[via[p]]
        end
        if k == 3
            break
        end
    end
    y[pos] = total
end

% Updates of shared elements, through a table.
function [] = __kernel__ counted(y : vec[int], x : vec[int], at : mat[int], pos : int)
    for k = 0..size(at,0)-1
        y[at[k,pos]] += x[at[k,pos]]
    end
end

wrong = 0
for n = [1,7,32,33,70]
    for taps = [1,5]
        x = int(mod(transpose(0..4).*7 + (0..n-1).*5, 11))
        at = int(mod(transpose(0..taps-1).*13 + (0..n-1).*3, n))
        w = mod(transpose(0..taps-1) + (0..n-1), 4)
        via = int(mod((0..n-1).*9 + 4, n))
        [y, y8, y2, y3] = {zeros(5,n), mat[int](5,n), vec[int](n), vec[int](n)}
        y3[0..n-1] = 0
        parallel_do([5,n], y, float(x), at, w, weighted)
        parallel_do([5,n], y8, uint8(x), at, bytes)
        parallel_do(n, y2, x[1,:], at, via, twice)
        parallel_do(n, y3, x[1,:], at, counted)
        for j = 0..n-1
            for i = 0..4
                [total, total8] = {0, 0}
                for k = 0..taps-1
                    total += w[k,j]*x[i,at[k,j]]
                    total8 += x[i,clamp(at[k,j]-2, 0, n-1)]
                end
                wrong += (y[i,j] != total) + (y8[i,j] != total8)
            end
            [total2, total3] = {0, 0}
            for k = 0..min(taps, 4)-1
                p = at[k,j]
                total2 = p > 2 ? 3*total2 + x[1,via[p]] : total2
            end
            total3 = x[1,j]*sum(at == j)
            wrong += (y2[j] != total2) + (y3[j] != total3)
        end
    end
end
print "wrong: ", wrong
