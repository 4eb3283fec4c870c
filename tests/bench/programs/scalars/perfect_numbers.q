% The sum of the numbers below n that are the sum of their divisors
function n = inputs(size)
    n = size
end
function total = perfect_numbers(n)
    total = 0
    for k = 2..n-1
        s = 1
        for m = 2..floor(sqrt(k))
            if mod(k, m) == 0
                s += m
                if m*m != k
                    s += k/m
                end
            end
        end
        if s == k
            total += k
        end
    end
end
