function [] = __kernel__ k(y : vec, pos : int)
    n = 0
    i = pos
    while i > 0
        if mod(i,2) == 1
            n += 1
        elseif i > 100
            break
        else
            n += 0
        end
        i = int(i/2)
    end
    repeat
        n += 10
    until n >= 10
    for j = 0..9
        if j == 3
            continue
        end
        if j == 5
            break
        end
        n += 100
    end
    match pos with
    | 0 -> n += 1000
    | 3 -> n += 3000
    | _ -> n += 0
    end
    if pos == 5
        return
    end
    y[pos] = n
end
y = zeros(8)
parallel_do(8, y, k)
print y
