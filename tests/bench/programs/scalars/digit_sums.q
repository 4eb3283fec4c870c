% How many numbers below n are divisible by the sum of their digits
function n = inputs(size)
    n = size
end
function count = digit_sums(n)
    count = 0
    for k = 1..n-1
        s = 0
        x = k
        while x > 0
            s += mod(x, 10)
            x = floor(x/10)
        end
        if mod(k, s) == 0
            count += 1
        end
    end
end
