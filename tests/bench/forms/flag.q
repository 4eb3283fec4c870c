% Counts runs of elements above 0.5.
function x = inputs()
    x = mod((0..499999)*7919, 1009)/1009
end
function n = false_before(x)
    n = 0
    inside = false
    for i = 0..numel(x)-1
        if x[i] > 0.5
            if !inside
                n += 1
            end
            inside = 1
        else
            inside = 0
        end
    end
end
function n = zero_before(x)
    n = 0
    inside = 0
    for i = 0..numel(x)-1
        if x[i] > 0.5 && inside == 0
            n += 1
        end
        inside = x[i] > 0.5
    end
end
function n = with_bool(x)
    n = int(0)
    inside = false
    for i = 0..numel(x)-1
        above = x[i] > 0.5
        if above && !inside
            n += 1
        end
        inside = above
    end
end
function n = with_slices(x)
    m = x > 0.5
    n = sum(m[1..numel(x)-1] && !m[0..numel(x)-2]) + (m[0] ? 1 : 0)
end
