% The longest Collatz sequence.
function n = inputs()
    n = 30000
end
function best = inlined(n)
    best = 0
    for i = 1..n
        k = i
        steps = 0
        while k != 1
            if mod(k, 2) == 0
                k = k/2
            else
                k = 3*k + 1
            end
            steps += 1
        end
        best = max(best, steps)
    end
end
function s = steps_of(k)
    s = 0
    while k != 1
        k = mod(k, 2) == 0 ? k/2 : 3*k + 1
        s += 1
    end
end
function best = with_function(n)
    best = 0
    for i = 1..n
        best = max(best, steps_of(i))
    end
end
function s = steps_of_int(k : int)
    s = 0
    while k > 1
        if mod(k, 2) == 0
            k = shr(k, 1)
        else
            k = 3*k + 1
        end
        s += 1
    end
end
function best = with_typed_function(n)
    best = 0
    for i = 1..n
        s = steps_of_int(i)
        if s > best
            best = s
        end
    end
end
function s = steps_from(k)
    s = k == 1 ? 0 : 1 + steps_from(mod(k, 2) == 0 ? k/2 : 3*k + 1)
end
function best = with_recursion(n)
    best = 0
    for i = 1..n
        best = max(best, steps_from(i))
    end
end
