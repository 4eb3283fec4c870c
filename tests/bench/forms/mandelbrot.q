% Iterations until a point leaves the circle.
function n = inputs()
    n = 120
end
function c = with_reals(n)
    c = zeros(n, n)
    for i = 0..n-1
        for j = 0..n-1
            x0 = 3*j/n - 2
            y0 = 2*i/n - 1
            x = 0
            y = 0
            k = 0
            while x*x + y*y <= 4 && k < 200
                t = x*x - y*y + x0
                y = 2*x*y + y0
                x = t
                k += 1
            end
            c[i,j] = k
        end
    end
end
function k = escape(x0, y0)
    x = 0
    y = 0
    k = 0
    while x^2 + y^2 <= 4 && k < 200
        [x, y] = [x^2 - y^2 + x0, 2*x*y + y0]
        k += 1
    end
end
function c = with_function(n)
    c = zeros(n, n)
    for i = 0..n-1
        for j = 0..n-1
            c[i,j] = escape(3*j/n - 2, 2*i/n - 1)
        end
    end
end
function c = with_break(n)
    c = zeros(n, n)
    for i = 0..n-1
        for j = 0..n-1
            x0 = 3*j/n - 2
            y0 = 2*i/n - 1
            x = 0.0
            y = 0.0
            steps = 200
            for k = 0..199
                if x*x + y*y > 4
                    steps = k
                    break
                end
                t = x*x - y*y + x0
                y = 2*x*y + y0
                x = t
            end
            c[i,j] = steps
        end
    end
end
function c = with_complex(n)
    c = zeros(n, n)
    for i = 0..n-1
        for j = 0..n-1
            z0 = complex(3*j/n - 2, 2*i/n - 1)
            z = complex(0, 0)
            k = 0
            while real(z)^2 + imag(z)^2 <= 4 && k < 200
                z = z*z + z0
                k += 1
            end
            c[i,j] = k
        end
    end
end
