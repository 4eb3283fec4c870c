% The sum of the decimal digits of all numbers up to n.
function n = inputs()
    n = 100000
end
function total = typed_parameter(n : int)
    total = 0
    for i = 0..n
        c = i
        while c > 0
            total += mod(c, 10)
            c = floor(c/10)
        end
    end
end
function total = with_int(n)
    total = 0
    for i = 0..n
        c = int(i)
        while c > 0
            d = int(floor(c/10))
            total += c - 10*d
            c = d
        end
    end
end
function s = digit_sum(c)
    s = 0
    while c > 0
        s += mod(c, 10)
        c = floor(c/10)
    end
end
function total = with_function(n)
    total = 0
    for i = 0..n
        total += digit_sum(i)
    end
end
function s = digit_sum_of_int(c : int)
    s = 0
    while c > 0
        s = s + mod(c, 10)
        c = int(floor(c/10))
    end
end
function total = with_typed_function(n)
    total = 0
    for i = 0..n
        total += digit_sum_of_int(i)
    end
end
