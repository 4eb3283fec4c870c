% Sums of bytes and shorts are kept in few bits if they fit: 127 fits into 8, 128 does not; -128 fits, -129 does not.
function [] = __kernel__ bytes(x, y, pos : int)
    v = min(x[pos], 64)
    y[pos, 0] = v + min(x[pos], 63)
    y[pos, 1] = v + min(x[pos], 64)
    y[pos, 2] = 0 - v - min(x[pos], 64)
    y[pos, 3] = 0 - v - min(x[pos], 65)
    y[pos, 4] = min(v + min(x[pos], 64), 100)
    y[pos, 5] = max(0 - v - min(x[pos], 65), -100)
end

function [] = __kernel__ shorts(x, y, pos : int)
    v = min(x[pos], 16384)
    y[pos, 0] = v + min(x[pos], 16383)
    y[pos, 1] = v + min(x[pos], 16384)
    y[pos, 2] = 0 - v - min(x[pos], 16384)
    y[pos, 3] = 0 - v - min(x[pos], 16385)
    y[pos, 4] = min(v + min(x[pos], 16384), 30000)
    y[pos, 5] = max(0 - v - min(x[pos], 16385), -30000)
end

x = uint8(0..255)
y = int(zeros(256, 6))
parallel_do(256, x, y, bytes)
print(y[[0, 63, 64, 65, 255], :])
x = uint16(0..65535)
y = int(zeros(65536, 6))
parallel_do(65536, x, y, shorts)
print(y[[0, 16383, 16384, 16385, 65535], :])
