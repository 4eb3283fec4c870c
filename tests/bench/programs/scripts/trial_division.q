% The sum of the primes below n
function n = inputs(size)
    n = size
end
function yes = is_prime(k)
    yes = k > 1
    m = 2
    while yes && m*m <= k
        if mod(k, m) == 0
            yes = false
        end
        m += 1
    end
end
function s = trial_division(n)
    s = 0
    for k = 0..n-1
        if is_prime(k)
            s += k
        end
    end
end
