% The sum of the greatest common divisors of all pairs.
function n = inputs()
    n = 400
end
function s = inlined(n)
    s = 0
    for i = 1..n
        for j = 1..n
            a = i
            b = j
            while b > 0
                t = mod(a, b)
                a = b
                b = t
            end
            s += a
        end
    end
end
function a = divisor(a, b)
    while b != 0
        [a, b] = [b, mod(a, b)]
    end
end
function s = with_function(n)
    s = 0
    for i = 1..n
        for j = 1..n
            s += divisor(i, j)
        end
    end
end
function g = divisor_recursive(a, b)
    if b == 0
        g = a
    else
        g = divisor_recursive(b, mod(a, b))
    end
end
function s = with_recursion(n)
    s = 0
    for i = 1..n
        for j = 1..n
            s += divisor_recursive(i, j)
        end
    end
end
function g : int = divisor_typed(a : int, b : int)
    while b > 0
        t = mod(a, b)
        a = b
        b = t
    end
    g = a
end
function s = with_typed_function(n)
    s = 0
    for i = 1..n
        for j = 1..n
            s += divisor_typed(i, j)
        end
    end
end
