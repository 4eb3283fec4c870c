% Steps of all points at once; those that have left stay where they are
function n = inputs(size)
    n = size
end
function steps = mandelbrot_masks(n)
    cx = repmat(3*(0..n-1)/n - 2.25, [n,1])
    cy = transpose(repmat(3*(0..n-1)/n - 1.5, [n,1]))
    x = zeros(n, n)
    y = zeros(n, n)
    steps = zeros(n, n)
    for k = 1..50
        inside = x.^2 + y.^2 < 4
        steps[inside] += 1
        t = x.^2 - y.^2 + cx
        y[inside] = (2*x.*y + cy)[inside]
        x[inside] = t[inside]
    end
end
