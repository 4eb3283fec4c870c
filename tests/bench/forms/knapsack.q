% The best value of items within a weight.
function [weight, value, limit] = inputs()
    weight = int(mod((0..99)*37, 50) + 1)
    value = int(mod((0..99)*91, 73) + 1)
    limit = 2000
end
function v = with_one_row(weight, value, limit)
    best = zeros(1, limit+1)
    for i = 0..numel(weight)-1
        for w = limit..-1..weight[i]
            best[w] = max(best[w], best[w-weight[i]] + value[i])
        end
    end
    v = best[limit]
end
function v = with_table(weight, value, limit)
    n = numel(weight)
    best = int(zeros(n+1, limit+1))
    for i = 1..n
        for w = 0..limit
            t = best[i-1,w]
            if weight[i-1] <= w
                u = best[i-1,w-weight[i-1]] + value[i-1]
                if u > t
                    t = u
                end
            end
            best[i,w] = t
        end
    end
    v = best[n,limit]
end
function v = with_while(weight, value, limit)
    best = int(zeros(1, limit+1))
    for i = 0..numel(weight)-1
        w = limit
        while w >= weight[i]
            other = best[w-weight[i]] + value[i]
            best[w] = other > best[w] ? other : best[w]
            w -= 1
        end
    end
    v = best[limit]
end
function v = with_slices(weight, value, limit)
    best = zeros(1, limit+1)
    for i = 0..numel(weight)-1
        k = weight[i]
        best[k..limit] = max(best[k..limit], best[0..limit-k] + value[i])
    end
    v = best[limit]
end
