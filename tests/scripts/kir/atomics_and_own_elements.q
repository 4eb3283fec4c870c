% options: --dump kir
% devices: ref
% += is atomic if several positions may address the element; it is not atomic at pos and in serial_do.
function [] = __kernel__ k(h : vec, y : vec, pos : int)
    h[mod(pos,4)] += 1
    y[pos] += 2
end
h = zeros(4)
y = zeros(9)
parallel_do(9, h, y, k)
serial_do(9, h, y, k)
print h
