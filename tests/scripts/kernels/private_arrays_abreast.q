% Private arrays in loops that all positions share: one array per strip on the CPU, with any remainder of a row.
function [] = __kernel__ filters(x : vec'mirror, y : vec, n : int, pos : int)
    h = zeros(5)            % differs between positions
    c = zeros(8)            % is the same for all
    s = 0.0
    for k = 0..n-1
        c[mod(k,8)] += k + 1
        h[mod(k,5)] += x[pos+k]*c[mod(3*k,8)]
        if mod(k,3) == 0
            t = zeros(3)
            t[k/3] = h[0] + k
            s += t[0] - t[mod(k,3)] + t[2]
        end
        if x[pos] > 3
            h[1] = s - h[mod(k+1,5)]
        end
    end
    for k = 0..4
        s += h[k]*(k+1)
    end
    y[pos] = s + c[3]
end
function [] = __kernel__ leaving(x : vec, y : vec, n : int, pos : int)
    if x[pos] == 2
        return
    end
    h = zeros(4)
    for k = 0..n-1
        if k > x[pos]
            break
        end
        h[mod(k,4)] += x[pos]
    end
    m = 0
    for k = 0..n-1
        h[m] += 1
        m = mod(m + 1, 4)
    end
    y[pos] += h[0] + 10*h[1] + 100*h[2] + 1000*h[3]
end
for n = [1, 5, 31, 32, 33, 63, 64, 77]
    x = 1.0*mod(0..n-1, 7)
    y = zeros(n)
    parallel_do(n, x, y, 9, filters)
    z = zeros(n)
    parallel_do(n, x, z, 6, leaving)
    w = 1 + mod(0..n-1, 5)
    print n, " ", sum(y), " ", sum(y.*w), " ", sum(z), " ", sum(z.*w)
end
