% Fields of objects that a kernel makes have the same initial values as on the host.
type ball : mutable class
    r : scalar = 2
    c : vec2 = [3,4]
    d : ivec2 = [5,6]
    on : bool = true
end
function s = total(b : ball)
    s = b.r + b.c[0] + b.c[1] + b.d[1] + b.on
end
function [] = __kernel__ make(y : vec, pos : int)
    b = ball()
    b.c[0] += pos
    y[pos] = total(b)
end
y = zeros(3)
parallel_do(3, y, make)
print y, total(ball())
type huge : mutable class
    c : vec = [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64,65,66,67,68,69,70]
end
function [] = __kernel__ make_huge(y : vec, pos : int)
    b = huge()
    y[pos] = b.c[pos]
end
try
    parallel_do(3, y, make_huge)
    print y
catch e
    print e
end
