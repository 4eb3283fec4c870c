function [] = __kernel__ k(y : vec'unchecked, pos : int)
    if pos > 0
        y[pos] = y[pos-1] + pos
    end
end
y = zeros(6)
serial_do(6, y, k)
print y
