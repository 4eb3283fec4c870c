% The smallest items of a queue that is kept sorted.
function [n] = inputs()
    n = 5000
end
function s = with_list(n)
    queue = {0}
    seed = 7
    s = 0
    for i = 1..n
        seed = mod(seed*7919 + 13, 10007)
        queue.append(seed)
        k = numel(queue) - 1
        while k > 0 && queue[k-1] < queue[k]
            t = queue[k]
            queue[k] = queue[k-1]
            queue[k-1] = t
            k -= 1
        end
        if mod(i, 2) == 0
            s = s*0.5 + queue.pop()
        end
    end
end
function s = with_insert(n)
    queue = {0}
    seed = 7
    s = 0
    for i = 1..n
        seed = mod(seed*7919 + 13, 10007)
        queue.append(0)
        k = numel(queue) - 1
        while k > 0 && queue[k-1] < seed
            queue[k] = queue[k-1]
            k -= 1
        end
        queue[k] = seed
        if mod(i, 2) == 0
            s = s*0.5 + queue.pop()
        end
    end
end
function s = with_array(n)
    queue = zeros(n+1)
    m = 1
    seed = 7
    s = 0
    for i = 1..n
        seed = mod(seed*7919 + 13, 10007)
        k = m
        while k > 0 && queue[k-1] < seed
            queue[k] = queue[k-1]
            k -= 1
        end
        queue[k] = seed
        m += 1
        if mod(i, 2) == 0
            m -= 1
            s = s*0.5 + queue[m]
        end
    end
end
function s = with_slices(n)
    queue = zeros(n+1)
    m = 1
    seed = 7
    s = 0
    for i = 1..n
        seed = mod(seed*7919 + 13, 10007)
        k = m
        while k > 0 && queue[k-1] < seed
            k -= 1
        end
        queue[k+1..m] = queue[k..m-1]
        queue[k] = seed
        m += 1
        if mod(i, 2) == 0
            m -= 1
            s = s*0.5 + queue[m]
        end
    end
end
