% for x in v iterates over the elements of a vector, the items of a cell, the rows of a matrix, like for x = v.
function s = total(v)
    s = 0
    for x in v
        if x == 2, continue, end
        if x > 9, break, end
        x = x*10             % x is a copy
        s += x
    end
end
function [] = __kernel__ weigh(y : vec, w : vec3, pos : int)
    for x in w
        if x < 0, continue, end
        if x > 5, break, end
        y[pos] += x
    end
end
v = [1,2,3,10,4]
print total(v), " ", v
print total([]), " ", total(int([5,6])), " ", total(7), " ", total({1,2,3})
for x in int([1,2]), print type(x), " ", x, end
for x in {1,"a",[2,3]}, print x, end
for r in [[1,2],[3,4]], print r, end
for [a,b] in {[1,2],[3,4]}
    print a, " ", b
end
for i in 0..2..4, print i, end
for x in v
    v[1] = 8                 % seen: x is read when its turn comes
    print x
    v = [0,0]                % not seen: the loop keeps its vector
end
in = 3
for in in [in,4], print in, end
y = zeros(2)
parallel_do(2, y, [1,-2,3], weigh)
print y
try
    eval("for x at v, print x, end")
catch e
    print e
end
