% Positions and sizes that float32 cannot distinguish keep their exact values.
n = 2^24 + 4
x = uint8(zeros(1, n))
x[2^24+1..2^24+3] = 7
print x[2^24..2^24+3], x[n-1..-1..n-4]
x[[n-4,2^24+1]] = [1,2]
print x[2^24..2^24+3]
i = 2^24+1..2^24+3
print i - 2^24, type(i), type(0..2^24), type(0..0.5..2)
p = [n-1,1]
print size(uint8(zeros(p))), size(reshape(x[1..n-1], p)), type(p), type([2^24,1])
print type([16777217]), type([[1,2],[3,16777217]]), type([0.1,1e30])
y = float32(zeros(1, n))
function [] = __kernel__ fill(y : vec, pos : int)
    y[pos] = 1
end
parallel_do([n-1], y, fill)
print y[n-3..n-1]
m = uint8(zeros(2, n))
function [] = mark(m, n)
    for k = n-4..n-1
        m[[1,k]] = k - n + 10
    end
end
mark(m, n)
print m[1,n-5..n-1]
v = 0
for k = n-3..n-1
    v = [k,1]
end
print v - n, type(v)
