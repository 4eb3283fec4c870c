% How many elements are within an interval.
function x = inputs()
    x = mod((0..999999)*7919, 1009)/1009
end
function n = with_logic(x)
    n = sum(x > 0.2 && x < 0.8)
end
function n = with_product(x)
    n = sum((x > 0.2).*(x < 0.8))
end
function n = with_where(x)
    n = sum(where(x > 0.2 && !(x >= 0.8), 1, 0))
end
function n = with_for(x)
    n = 0
    for i = 0..numel(x)-1
        if x[i] > 0.2 && x[i] < 0.8
            n += 1
        end
    end
end
function n = with_numel(x)
    n = numel(x[x > 0.2 && x < 0.8])
end
