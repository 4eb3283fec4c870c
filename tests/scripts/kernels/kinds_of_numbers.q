% A kernel is specialised for properties of the numbers it is called with; the next number need not have
% the properties of the first one.
function [] = __kernel__ rest(y : vec[int], n, pos : int)
    y[pos] = mod(n + pos, 1000)
end

function [] = __kernel__ scaled(y : vec[scalar], n, pos : int)
    y[pos] = n
end

for n = [3, 16777217, 2147483643, 5000000000, 9007199254740994]
    y = vec[int](4)
    parallel_do(4, y, n, rest)
    z = float64([0,0])
    parallel_do(2, z, n, scaled)
    print n, ": ", y, " ", z
end
for n = [2.5, 7]
    y = vec[int](4)
    parallel_do(4, y, int(n), rest)
    print y
end
