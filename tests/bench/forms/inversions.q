% Counts the exchanges of bubble sort.
function x = inputs()
    x = int(mod((0..499)*7919, 1009))
end
function n = with_flag(x)
    a = copy(x)
    n = 0
    swapped = true
    while swapped
        swapped = false
        for i = 0..numel(a)-2
            if a[i] > a[i+1]
                t = a[i]
                a[i] = a[i+1]
                a[i+1] = t
                n += 1
                swapped = true
            end
        end
    end
end
function n = with_declared(x)
    a = copy(x)
    n : int = 0
    last : int = numel(a) - 1
    while last > 0
        where_ : int = 0
        for i = 0..last-1
            if a[i] > a[i+1]
                t : int = a[i]
                a[i] = a[i+1]
                a[i+1] = t
                n += 1
                where_ = i
            end
        end
        last = where_
    end
end
function n = with_pairs(x)
    n = 0
    for i = 0..numel(x)-2
        for j = i+1..numel(x)-1
            if x[i] > x[j]
                n += 1
            end
        end
    end
end
function out = out_of_order(a : int, b : int)
    out = a > b
end
function n = with_function(x)
    n = int(0)
    for i = 1..numel(x)-1
        k = int(0)
        for j = 0..i-1
            k += out_of_order(x[j], x[i])
        end
        n += k
    end
end
function n = with_repeat(x)
    a = copy(x)
    n = int(0)
    repeat
        any_ = 0
        for i = 1..numel(a)-1
            left = a[i-1]
            right = a[i]
            if left > right
                a[i-1] = right
                a[i] = left
                any_ += 1
            end
        end
        n += any_
    until any_ == 0
end
