% Branches with a few cheap operations are selections: variables, elements that are loaded before or stored in both
% branches, nested branches.  The old elements stay, with their bits.
function [far, x, y] = walk(n)
    x = 0
    y = 0
    seed = 1
    far = 0
    for i = 1..n
        seed = mod(1664525*seed + 1013904223, 4294967296)
        d = floor(seed/1073741824)
        if d == 0
            x += 1
        elseif d == 1
            x -= 1
        elseif d == 2
            y += 1
        else
            y -= 1
        end
        far = max(far, x*x + y*y)
    end
end
[far, x, y] = walk(2000)
print far, " ", x, " ", y

function d = shortest(d)
    n = size(d, 0)
    for k = 0..n-1
        for i = 0..n-1
            for j = 0..n-1
                t = d[i,k] + d[k,j]
                if t < d[i,j]
                    d[i,j] = t
                end
            end
        end
    end
end
d = shortest(reshape(mod((0..399)*7919, 1009) + 1, [20,20]))
printf("%.9g %.9g", sum(d), max(d))

% -0 and nan stay; an index outside the array in a branch that is not taken is no error
function y = clipped(x, n)
    y = copy(x)
    for r = 1..2
        for i = 0..n-1
            if y[i] > 3
                y[i] = 3
            elseif y[i] < -3
                y[i] = -3
            end
        end
    end
end
print clipped([-0.0, nan, 5, -7, inf, -inf, 2, 0], 8)
function s = guarded(x, n)
    s = 0
    last = 7
    for i = 0..n-1
        if i < numel(x)
            s += x[i]
            last = x[i]
        else
            s -= last
        end
        if i == 3
            x[0] = s
        else
            x[0] = x[0] + 1
        end
    end
    s = s + last
end
print guarded([1,2,3,4], 9)

% elements of a vector in branches
function v = counted(n)
    pos = [0,0]
    far = 0
    seed = int(1)
    for i = 1..n
        seed = mod(1664525*seed + 1013904223, int(4294967296))
        match shr(seed, 30) with
        | 0 -> pos[0] += 1
        | 1 -> pos[0] -= 1
        | 2 -> pos[1] += 1
        | _ -> pos[1] -= 1
        end
        far = max(far, sum(pos.^2))
    end
    v = [far, pos[0], pos[1]]
end
print counted(2000)

% an element that only one branch uses, which may not exist
function s = rare(x, k, n)
    s = 0
    for i = 1..n
        if mod(i, 7) == k
            x[k] = x[k] + i
        end
        s += i
    end
end
x = zeros(5)
print rare(x, 3, 50), " ", x, " ", rare(x, 9, 50)
try
    print rare(x, 6, 50)
catch e
    print e
end

% a loop that positions leave at different times
function c = escapes(n, most, step)
    c = zeros(n, n)
    for i = 0..n-1
        for j = 0..n-1
            x0 = 3*j/n - 2
            y0 = 2*i/n - 1
            x = 0.0
            y = 0.0
            steps = most
            for k = 0..step..most
                if x*x + y*y > 4
                    steps = k
                    break
                end
                t = x*x - y*y + x0
                y = 2*x*y + y0
                x = t
            end
            c[i,j] = steps + x/8
        end
    end
end
c = escapes(21, 60, 1)
d = escapes(21, -9, -1)
printf("%.9g %.9g %.9g", sum(c), c[7,11], sum(d))
