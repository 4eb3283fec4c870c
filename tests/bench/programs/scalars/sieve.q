% How many primes are below n
function n = inputs(size)
    n = size
end
function count = sieve(n)
    composite = int(zeros(n))
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
