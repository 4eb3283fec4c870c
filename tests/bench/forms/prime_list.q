% Primes, collected in a list.
function n = inputs()
    n = 20000
end
function r = with_append(n)
    primes = {}
    for k = 2..n
        prime = true
        for p = primes
            if p*p > k
                break
            end
            if mod(k, p) == 0
                prime = false
                break
            end
        end
        if prime
            primes.append(k)
        end
    end
    r = 0
    for p = primes
        r += p
    end
end
function r = with_while(n)
    primes = {2}
    k = 3
    while k <= n
        i = 0
        while primes[i]*primes[i] <= k && mod(k, primes[i]) != 0
            i += 1
        end
        if primes[i]*primes[i] > k
            primes.append(k)
        end
        k += 2
    end
    r = 0
    for p = primes
        r += p
    end
end
function r = with_array(n)
    primes = zeros(n)
    count = 0
    for k = 2..n
        prime = true
        i = 0
        while i < count && primes[i]^2 <= k
            if mod(k, primes[i]) == 0
                prime = false
                break
            end
            i += 1
        end
        if prime
            primes[count] = k
            count += 1
        end
    end
    r = sum(primes[0..count-1])
end
function y = is_prime(k)
    y = k >= 2
    d = 2
    while d*d <= k
        if mod(k, d) == 0
            y = false
            return
        end
        d += 1
    end
end
function r = with_function(n)
    r = 0
    for k = 1..n
        if is_prime(k)
            r += k
        end
    end
end
