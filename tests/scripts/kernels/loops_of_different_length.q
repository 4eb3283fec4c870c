% tolerance: 1e-5
% Loops that neighbouring positions leave in different iterations, or at different exits, or never enter.
function [] = __kernel__ collatz(y : vec[int], pos : int)
    n = pos
    steps = 0
    while n > 1
        if mod(n, 2) == 0
            n = int(n/2)
        else
            n = 3*n + 1
        endif
        steps += 1
    end
    y[pos] = steps
end

function [] = __kernel__ root(x : vec, y : vec, pos : int)
    r = max(x[pos], 1)
    last = 0.0
    while true
        last = r
        r = 0.5*(r + x[pos]/r)
        if abs(r - last) < 1e-5*r
            break
        endif
        if last < 1e-3
            r = 0
            break
        endif
    end
    y[pos] = r
end

% The inner of two exits takes precedence, and the code after it does not run.
function [] = __kernel__ exits(y : mat, pos : ivec2)
    total = 0.0
    for k = 1..3
        t = pos[1]
        repeat
            t += k
            if t > 20
                if pos[0] == 1
                    total += 1000
                    break
                endif
                total += 0.25
            else
                total += 0.001
            endif
            left = t - total
        until left > 25
        total += left
    end
    y[pos] = total
end

% A position that ends inside the loop, and an error there, behave as usual.
function [] = __kernel__ ends(y : vec, pos : int)
    s = 0.0
    while s < pos
        s += 3
        if s == 30
            y[pos] = -1
            return
        endif
    end
    y[pos] = s
end

for n = [1, 31, 32, 33, 100, 1000]
    y = vec[int](n)
    parallel_do(n, y, collatz)
    z = zeros(n)
    parallel_do(n, mod((0..n-1)*37, 101)/10, z, root)
    print n, " ", sum(y), " ", max(y), " ", y[n-1], " ", sum(z), " ", z[n-1]
end
w = zeros(3,50)
parallel_do(size(w), w, exits)
print sum(w, 1), w[1,31], " ", w[2,49]
v = zeros(60)
parallel_do(60, v, ends)
print v

% Rows too short for strips, colours as the last axis, and a kernel without bounds checks.
function [] = __kernel__ halve(x : cube'unchecked, y : cube'unchecked, pos : ivec3)
    v = x[pos]
    n = 0.0
    while v > 1
        v = v/2
        n += 1
    end
    y[pos] = n
end
for size = [[5,7,3], [2,50,3], [3,2,40]]
    x = reshape(mod((0..prod(size)-1)*7919, 4001), size)
    y = zeros(size)
    parallel_do(size, x, y, halve)
    print sum(y), " ", y[1,1,2]
end
