% Numbers of the host may be so large that their sum wraps in 64 bits; the intended index is out of bounds all the same.
function [] = __kernel__ far(x : vec, y : vec, a, b, pos : int)
    y[pos] = x[pos + a + b] + 1
end

x = ones(10)
for a = {4611686018427387904, -4611686018427387904, 9007199254740992}
    for b = {4611686018427387904, -4611686018427387904, 3}
        y = zeros(10)
        parallel_do(10, x, y, a, b, far)
        print(sum(y))
        parallel_do(10, x, y, int(a), int(b), far)
        print(sum(y))
    end
end
