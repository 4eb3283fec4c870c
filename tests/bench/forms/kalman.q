% A Kalman filter of a position and its speed.
function [z] = inputs()
    z = float64(0..19999)*0.1 + sin(float64(0..19999)*12.9898)
end
function y = with_scalars(z)
    n = numel(z)
    y = float64(zeros(n))
    x = 0
    v = 0
    p00 = 1
    p01 = 0
    p11 = 1
    q = 0.001
    r = 0.5
    for i = 0..n-1
        x += v
        p00 += 2*p01 + p11 + q
        p01 += p11
        p11 += q
        s = p00 + r
        k0 = p00/s
        k1 = p01/s
        e = z[i] - x
        x += k0*e
        v += k1*e
        p11 -= k1*p01
        p01 -= k0*p01
        p00 -= k0*p00
        y[i] = x
    end
end
function y = with_matrices(z)
    n = numel(z)
    y = float64(zeros(n))
    F = float64([[1,1],[0,1]])
    Q = float64([[0.001,0],[0,0.001]])
    H = float64([[1,0]])
    x = float64([[0],[0]])
    P = float64(eye(2))
    I = float64(eye(2))
    for i = 0..n-1
        x = F*x
        P = F*P*transpose(F) + Q
        S = H*P*transpose(H) + 0.5
        K = P*transpose(H)/S
        x = x + K*(z[i] - H*x)
        P = (I - K*H)*P
        y[i] = x[0,0]
    end
end
function y = with_arrays(z)
    n = numel(z)
    y = vec[float64](n)
    x = float64([0,0])
    P = float64([[1,0],[0,1]])
    i = 0
    while i < n
        x[0] += x[1]
        P[0,0] += P[0,1] + P[1,0] + P[1,1] + 0.001
        P[0,1] += P[1,1]
        P[1,0] += P[1,1]
        P[1,1] += 0.001
        s = P[0,0] + 0.5
        k = P[:,0]/s
        e = z[i] - x[0]
        x[0] += k[0,0]*e
        x[1] += k[1,0]*e
        P = P - k*P[0,:]
        y[i] = x[0]
        i += 1
    end
end
function [x, v, a, b, c] = update(x, v, a, b, c, z)
    x += v
    a += 2*b + c + 0.001
    b += c
    c += 0.001
    k = a/(a + 0.5)
    l = b/(a + 0.5)
    e = z - x
    x += k*e
    v += l*e
    c -= l*b
    b -= k*b
    a -= k*a
end
function y = with_function(z)
    y = float64(zeros(size(z)))
    [x, v, a, b, c] = [0, 0, 1, 0, 1]
    for i = 0..numel(z)-1
        [x, v, a, b, c] = update(x, v, a, b, c, z[i])
        y[i] = x
    end
end
