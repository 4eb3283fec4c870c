% The sum of the greatest common divisors of pairs.
function n = inputs()
    n = 300
end
function s = with_while(n)
    s = 0
    for i = 1..n
        for j = 1..n
            a = i
            b = j
            while b != 0
                t = mod(a, b)
                a = b
                b = t
            end
            s += a
        end
    end
end
function g = divisor(a, b)
    while b > 0
        t = b
        b = mod(a, b)
        a = t
    end
    g = a
end
function s = with_function(n)
    s = 0
    for i = 1..n
        for j = 1..n
            s += divisor(i, j)
        end
    end
end
function g:int = typed_divisor(a : int, b : int)
    while b != 0
        t : int = mod(a, b)
        a = b
        b = t
    end
    g = a
end
function s = with_typed_function(n)
    s : int = 0
    for i = 1..n
        for j = 1..n
            s += typed_divisor(i, j)
        end
    end
end
function s = with_ints(n)
    s = int(0)
    for i = int(1)..int(n)
        for j = int(1)..int(n)
            a = int(i)
            b = int(j)
            going = true
            while going
                t = mod(a, b)
                a = b
                b = t
                going = b != 0
            end
            s += a
        end
    end
end
