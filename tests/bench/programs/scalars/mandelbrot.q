function n = inputs(size)
    n = size
end
function steps = mandelbrot(n)
    steps = int(zeros(n, n))
    for i = 0..n-1
        for j = 0..n-1
            cx = 3*j/n - 2.25
            cy = 3*i/n - 1.5
            x = 0.0
            y = 0.0
            k = 0
            while k < 100 && x*x + y*y < 4
                t = x*x - y*y + cx
                y = 2*x*y + cy
                x = t
                k += 1
            end
            steps[i,j] = k
        end
    end
end
