% Sorts by insertion.
function x = inputs()
    x = mod((0..1499)*7919, 1501)
end
function y = with_while(x)
    y = copy(x)
    for i = 1..numel(y)-1
        v = y[i]
        j = i - 1
        while j >= 0 && y[j] > v
            y[j+1] = y[j]
            j -= 1
        end
        y[j+1] = v
    end
end
function y = with_break(x)
    y = copy(x)
    for i = 1..numel(y)-1
        v = y[i]
        at = 0
        for j = i-1..-1..0
            if y[j] <= v
                at = j + 1
                break
            end
            y[j+1] = y[j]
        end
        y[at] = v
    end
end
function y = with_exchange(x)
    y = copy(x)
    for i = 1..numel(y)-1
        j = i
        while j > 0 && y[j-1] > y[j]
            t = y[j]
            y[j] = y[j-1]
            y[j-1] = t
            j = j - 1
        end
    end
end
function y = with_ints(x)
    y = int(x)
    for i = 1..numel(y)-1
        v = y[i]
        j = int(i - 1)
        while j >= 0 && y[j] > v
            y[j+1] = y[j]
            j = j - 1
        end
        y[j+1] = v
    end
end
