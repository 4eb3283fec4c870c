% To which cube root of 1 Newton's method leads, and how soon
function n = inputs(size)
    n = size
end
function steps = newton_fractal(n)
    steps = int(zeros(n, n))
    for i = 0..n-1
        for j = 0..n-1
            x = 4*(j + 0.3)/n - 2
            y = 4*(i + 0.3)/n - 2
            k = 0
            while k < 40
                x2 = x*x
                y2 = y*y
                a = x*x2 - 3*x*y2 - 1
                b = 3*x2*y - y*y2
                if a*a + b*b < 0.000001
                    break
                end
                c = 3*(x2 - y2)
                e = 6*x*y
                m = c*c + e*e
                x -= (a*c + b*e)/m
                y -= (b*c - a*e)/m
                k += 1
            end
            steps[i,j] = k
        end
    end
end
