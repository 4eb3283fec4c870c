% pi as an alternating sum
function n = inputs(size)
    n = size
end
function y = leibniz(n)
    y = 0
    sign = 1
    for k = 0..n-1
        y += sign/(2*k + 1)
        sign = -sign
    end
    y *= 4
end
