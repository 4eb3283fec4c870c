% options: --loops always
% A short loop is unrolled if the bounds of an inner loop depend on its counter: indices become constants, and errors,
% jumps out of it, variables after it and the order of stores stay the same.
function y = sorted_windows(x, length, which)
    y = zeros(numel(x))
    w = zeros(length)
    for i = 2..numel(x)-3
        for k = 0..4
            v = x[i-2+k]
            m = k
            while m > 0 && w[m-1] > v
                w[m] = w[m-1]
                m -= 1
            end
            w[m] = v
        end
        y[i] = w[which]
    end
end

function [s, last] = triangle(x, n)
    s = 0
    last = 0
    for i = 0..n-1
        for k = 3..-1..0
            for m = k..3
                s = 0.5*s + x[mod(i+4*k+m, 16)]
                last = 10*k + m
            end
        end
    end
end

function [s, found_at] = first_large(x, limit)
    s = 0
    found_at = [-1, -1, -1]
    found = false
    for i = 0..numel(x)-8
        for k = 0..3
            for m = 0..k
                s += x[i+k+m]
                if x[i+k+m] > limit
                    found_at = [i, k, m]
                    found = true
                    break
                end
                if x[i+k+m] < 0.1
                    continue
                end
                s += 1
            end
        end
        if found
            break
        end
    end
end

function n = returns_inside(x, limit)
    n = -1
    for i = 0..numel(x)-8
        for k = 0..3
            for m = k..3
                if x[i+m] > limit
                    n = 100*i + 10*k + m
                    return
                end
            end
        end
    end
end

function d = factor(A)
    for t = 0..9
        for j = 0..3
            for i = j+1..3
                A[i,j] /= A[j,j]
                for k = j+1..3
                    A[i,k] -= A[i,j]*A[j,k]
                end
            end
        end
    end
    d = A
end

x = mod((0..199)*37, 101)/101
print sum(sorted_windows(x, 5, 2).*(1..200)), " ", sorted_windows(x, 5, 2)[100..104]
try
    print sorted_windows(x, 3, 1)
catch e
    print e
end
try
    print sorted_windows(x, 5, 6)
catch e
    print e
end
[s, last] = triangle(x, 50)
print s, " ", last
for limit = [0.97, 2]
    [s, found_at] = first_large(x, limit)
    print s, " ", found_at
end
print returns_inside(x, 0.97), " ", returns_inside(x, 2)
A = reshape(mod((0..15)*37, 17) + 1, [4,4]) + 20*eye(4)
print factor(A)
