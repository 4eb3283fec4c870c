% options: --explain --loops always
% exit: 3
% Sums and extremes that are written in several forms; all of these loops are parallel.
function s = add_in_place(x)
    s = 0
    for i = 0..numel(x)-1
        s += x[i] + i
    end
end
function s = add_terms(x)
    s = 0
    for i = 0..numel(x)-1
        s = s + x[i] + i
    end
end
function s = add_to_term(x)
    s = 0
    for i = 0..numel(x)-1
        s = x[i] + (s + i)
    end
end
function s = subtract_terms(x)
    s = 0
    for i = 0..numel(x)-1
        s = s - x[i] - i
    end
end
function s = multiply(x)
    s = 1
    for i = 0..numel(x)-1
        s = (1 + mod(i, 2))*s
    end
end
function m = choose_largest(x)
    m = -inf
    for i = 0..numel(x)-1
        m = x[i] > m ? x[i] : m
    end
end
function m = choose_smallest(x)
    m = inf
    for i = 0..numel(x)-1
        m = m >= x[i] ? x[i] : m
    end
end
x = mod((0..999)*389, 1000)
x[500] = nan
print choose_largest(x), choose_smallest(x)
x[500] = 0
print add_in_place(x), add_terms(x), add_to_term(x), subtract_terms(x)
print multiply(x[0..99]) == 2^50, choose_largest(x), choose_smallest(x - 1)
exit(3)
