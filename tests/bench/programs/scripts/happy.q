% How many numbers up to n lead to 1 by the squares of their digits
function n = inputs(size)
    n = size
end
function s = squares(k)
    s = 0
    while k > 0
        digit = mod(k, 10)
        s += digit*digit
        k = (k - digit)/10
    end
end
function count = happy(n)
    count = 0
    for k = 1..n
        x = k
        while x != 1 && x != 4
            x = squares(x)
        end
        if x == 1
            count += 1
        end
    end
end
