% Conversions and copies of zeros that nobody has read or written are arrays of their own.
a = zeros(40, 50)
bytes = uint8(a)
same = copy(a)
view = a[10..19, 20..29]
part = copy(view)
wide = float64(view)
pairs = complex(a)
flags = bool(a)
a[15, 25] = 3
print view[5,5], part[5,5], wide[5,5], same[15,25], bytes[15,25], sum(a)
same[1,2] = 4
bytes[39,49] = 200
part[0,0] = 5
print sum(same), sum(bytes), sum(part), sum(wide), sum(a), any(flags), real(sum(pairs))
print size(bytes), size(part), size(pairs)

% Memory that held other values before.
for k = 1..5
    used = rand([40, 50]) + 1
    used = 0
    fresh = zeros(40, 50)
    short = int16(zeros(40, 50))
    fresh[k, 0..9] = 2
    short[k, k] = -7
    print sum(fresh), sum(short), max(short), min(short)
end

% A function that writes through a view, a kernel, a compiled loop.
function [] = put(x)
    x[0..2] = 6
end
function [] = __kernel__ mark(x : mat, pos : ivec2)
    if pos[0] == pos[1]
        x[pos] += 1
    end
end
line = zeros(3000)
twin = int(line)
put(line)
put(twin)
print sum(line), sum(twin)
square = zeros(60, 60)
other = copy(square)
parallel_do(size(square), square, mark)
print sum(square), sum(other)
counts = int(zeros(500))
for k = 0..9999
    counts[mod(k*k, 500)] += 1
end
print sum(counts), counts[0], counts[1]
print sum(reshape(zeros(50, 50), 2500)), sum(transpose(zeros(70, 40))), sum(-zeros(40, 40) == 0)
