% options: --dump kir
% devices: ref
% += on an element that several positions may address is atomic; on the element at pos, and in serial_do, it is not.
function [] = __kernel__ k(h : vec, y : vec, pos : int)
    h[mod(pos,4)] += 1
    y[pos] += 2
end
h = zeros(4)
y = zeros(9)
parallel_do(9, h, y, k)
serial_do(9, h, y, k)
print h
