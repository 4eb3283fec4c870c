function [] = assert(x, y)
    print "mine: ", x, ", ", y
end
assert(false, 1)
function y = last(n)
    y = 0
    for i = 1..n
        assert(i < 0, f"{i}")
        y = i
    end
end
print last(3)
