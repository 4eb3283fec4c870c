% The number below n whose Collatz sequence is longest.
function n = inputs(size)
    n = size
end
function best = collatz(n)
    longest = 0
    for start = 1..n-1
        x = start
        steps = 0
        while x != 1
            if mod(x, 2) == 0
                x /= 2
            else
                x = 3*x + 1
            end
            steps += 1
        end
        if steps > longest
            longest = steps
            best = start
        end
    end
end
