% Run-length encoding.
function x = inputs()
    x = floor(mod((0..49999).^2/977, 7))
end
function r = with_append(x)
    values = {}
    counts = {}
    last = x[0]
    n = 0
    for i = 0..numel(x)-1
        if x[i] == last
            n += 1
        else
            values.append(last)
            counts.append(n)
            last = x[i]
            n = 1
        end
    end
    values.append(last)
    counts.append(n)
    r = 0
    for i = 0..numel(values)-1
        r += values[i]*counts[i]*mod(i, 5)
    end
end
function r = with_arrays(x)
    values = zeros(numel(x))
    counts = zeros(numel(x))
    k = 0
    values[0] = x[0]
    counts[0] = 1
    for i = 1..numel(x)-1
        if x[i] == x[i-1]
            counts[k] += 1
        else
            k += 1
            values[k] = x[i]
            counts[k] = 1
        end
    end
    r = 0
    for i = 0..k
        r += values[i]*counts[i]*mod(i, 5)
    end
end
function r = with_expressions(x)
    n = numel(x)
    [_, at] = find(x[1..n-1] != x[0..n-2])
    starts = horzcat([0], at + 1)
    counts = horzcat(at + 1, [n]) - starts
    r = sum(x[starts].*counts.*mod(0..numel(starts)-1, 5))
end
function r = with_while(x)
    r = 0
    i = 0
    k = 0
    while i < numel(x)
        j = i
        while j < numel(x) && x[j] == x[i]
            j += 1
        end
        r += x[i]*(j - i)*mod(k, 5)
        k += 1
        i = j
    end
end
