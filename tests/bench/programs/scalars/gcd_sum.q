% The sum of the greatest common divisors of all pairs below n
function n = inputs(size)
    n = size
end
function total = gcd_sum(n)
    total = 0
    for i = 1..n-1
        for j = i..n-1
            a = i
            b = j
            while b != 0
                t = mod(a, b)
                a = b
                b = t
            end
            total += a
        end
    end
end
