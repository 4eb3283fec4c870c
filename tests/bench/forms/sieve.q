% The number of primes below n.
function n = inputs()
    n = 1000000
end
function count = with_while(n)
    composite = zeros(1, n)
    count = 0
    for i = 2..n-1
        if composite[i] == 0
            count += 1
            j = i*i
            while j < n
                composite[j] = 1
                j += i
            end
        end
    end
end
function count = with_for(n)
    composite = zeros(1, n)
    count = 0
    for i = 2..n-1
        if composite[i] == 0
            count += 1
            for j = i*i..i..n-1
                composite[j] = 1
            end
        end
    end
end
function count = with_slices(n)
    prime = ones(1, n)
    prime[0..1] = 0
    i = 2
    while i*i < n
        if prime[i]
            prime[i*i..i..n-1] = 0
        end
        i += 1
    end
    count = sum(prime)
end
function count = with_bytes(n)
    composite = uint8(zeros(1, n))
    count = 0
    for i = 2..n-1
        if !composite[i]
            count += 1
            for j = i*i..i..n-1
                composite[j] = true
            end
        end
    end
end
