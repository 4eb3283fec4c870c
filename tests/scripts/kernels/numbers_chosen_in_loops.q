% Numbers that a loop selects repeatedly have a type: also for integers, small integers and truth values.
function [] = __kernel__ chosen(y : vec, x : vec, pos : int)
    place = uint8(0)
    other = uint8(250)
    b = false
    for k = 1..3
        better = x[pos+k] > 2
        place = better ? uint8(k) : place
        if better
            other = uint8(k) + 1
        else
            other = k*1.5
        endif
        b = better ? b : true
        c = int(2.5)
        c = b ? c : k
    end
    y[pos] = place + other + c
end
y=zeros(3)
parallel_do(3, y, [1,5,2,7,3,9], chosen)
print y
function [] = __kernel__ largest(y : vec, at : ivec, x : vec, pos : int)
    best = x[pos]
    place = 0
    for k = 1..3
        v = x[pos+k]
        better = v > best || v != v
        best = better ? v : best
        place = better ? k : place
    end
    y[pos] = best
    at[pos] = place
end
y=zeros(3); at=vec[int](3)
parallel_do(3, y, at, [1,5,2,7,3,9], largest)
print y, at
