% options: --loops always
% Slices that are set to other elements of the same array, and slices kept in a variable while the array changes.
function A = swaps(n)
    A = reshape(0..3*40-1, [3,40])
    for k = 0..n-1
        i = mod(k, 3)
        j = mod(2*k+1, 3)
        t = A[i,:]
        A[i,:] = A[j,:]
        A[j,:] = t + 1
    end
end
function A = swap_columns(n)
    A = reshape(0..50*4-1, [50,4])
    for k = 0..n-1
        t = A[:,mod(k,4)]
        A[:,mod(k,4)] = A[:,mod(k+1,4)]
        A[:,mod(k+1,4)] = t*0.5
    end
end
function x = shifts(n)
    x = zeros(64)
    for k = 1..n
        x[1..63] = x[0..62]
        x[0] = k/3
        x[0..61] = x[2..63] + 0.25
    end
end
function x = stencil(n)
    x = mod((0..99)*7, 13)
    for k = 1..n
        x[1..98] = 0.25*x[0..97] + 0.5*x[1..98] + 0.25*x[2..99]
        x[3..97] -= x[2..96]
        x[49..-1..0] = x[50..99]
    end
end
function x = reversed(n)
    x = 0..70
    for k = 1..n
        x[0..70] = x[70..-1..0]
        x[k] += 1
    end
end
function x = by_bounds(n, a, b)
    x = float64(0..80)
    for k = 1..n
        x[a+k..b+k] = x[a..b]
        x[a..b] = x[a+k..b+k].^2
    end
end
function [] = swap_rows(A, i, j)
    t = A[i,:]
    A[i,:] = A[j,:]
    A[j,:] = t
end
function [A, p] = eliminate(n)
    A = zeros(n, n)
    for i = 0..n-1
        for j = 0..n-1
            A[i,j] = mod(i*37 + j*101 + i*j*13, 97)/97
        end
    end
    p = 1
    for k = 0..n-1
        at = k
        for i = k+1..n-1
            if abs(A[i,k]) > abs(A[at,k])
                at = i
            end
        end
        swap_rows(A, k, at)
        for i = k+1..n-1
            f = A[i,k]/A[k,k]
            A[i,:] = A[i,:] - f*A[k,:]
        end
        p *= A[k,k]
    end
end
function x = wrong_length(n)
    x = zeros(60)
    for k = 1..n
        x[0] += 1
        x[1..40] = x[k..39+k]
        x[1..40+k] = x[1..40]
    end
end
function x = outside(n)
    x = zeros(60)
    for k = 1..n
        x[0] += k
        x[0..39] = x[5*k..39+5*k]
    end
end
function x = empty(n)
    x = 0..49
    for k = 1..n
        x[k..3] = x[k+1..4]
        x[5] = numel(x[k..3])
    end
end
function x = ints(n)
    x = int(0..49)
    for k = 1..n
        x[1..49] = x[0..48]
    end
end
function x = long(n)
    x = 0..1999
    for k = 1..n
        x[1..1999] = x[0..1998]
        t = x[0..9]
        x[0..9] = x[10..19]
        x[10..19] = t
    end
end
print swaps(7)
print sum(swap_columns(9), 0)
print shifts(10)
print stencil(3)
print reversed(5)
print by_bounds(4, 3, 40)
[A, p] = eliminate(12)
print p, sum(A)
print empty(6)
print ints(3)
x = long(5)
print sum(x.*(0..1999)), x[0..30]
try
    wrong_length(30)
catch e
    print e.line, " ", e
end
try
    outside(30)
catch e
    print e.line, " ", e
end
% a slice that is read before a target of the same assignment, and kept in a variable behind it
function [s, x] = both_at_once(n)
    s = 0
    x = mod((0..n-1)*7, 11)
    y = ones(n)
    for k = 1..5
        [x[0..39], w] = [y[0..39]*k, x[0..39]*2]
        for j = 0..3
            s += w[j+k]
        end
    end
end
[s, x] = both_at_once(60)
print s, " ", x[0..4]
