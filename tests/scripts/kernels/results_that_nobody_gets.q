% A launched function stores into arrays: its result would be lost.
function y = twice(x)
    y = 2*x
end
function [] = fill(y, pos : int)
    y[pos] = pos
end
function old = swap(y, pos)
    old = y[pos]
    y[pos] = 7
end
function [] = __kernel__ outer(y : vec, pos : int)
    serial_do(3, y, y -> sum(y))
end
function [] = __kernel__ outer_after(y : vec, pos : int)
    y[pos] = 1
    serial_do(3, y, y -> sum(y))
end
a = [1,2,3]
for launched = {twice, x -> 2*x, x -> sqrt(x), __kernel__ x -> x[0], swap, outer, outer_after}
    for launch = {parallel_do, serial_do}
        try
            launch(3, a, launched)
        catch e
            print e
        end
    end
end
parallel_do(3, a, fill)
print a
serial_do(3, a, (y, pos : int) -> swap(y, pos)) % called for what it stores
print a
wanted = 1 < 0
function old = swap_if_wanted(y, pos)
    old = y[pos]
    if wanted
        y[pos] = 8
    end
end
serial_do(3, a, (y, pos : int) -> swap_if_wanted(y, pos)) % for what it may store
print a
wanted = 1 > 0
serial_do(3, a, (y, pos : int) -> swap_if_wanted(y, pos))
print a
