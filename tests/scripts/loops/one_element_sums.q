% Inner loops that add to one element.  Several iterations of the outer loop may run together; each sum keeps its order,
% so that its bits are those of the interpreter, also where arrays are the same one.
function A = field(n, m)
    A = zeros(n, m)
    for i = 0..n-1
        for j = 0..m-1
            A[i,j] = mod(i*37 + j*11, 61)/7 - 3
        end
    end
end

function q = by_update(A, p, q)
    for i = 0..size(A,0)-1
        for j = 0..size(A,1)-1
            q[i] += A[i,j]*p[j]
        end
    end
end

function q = by_assignment(A, p, q)
    for i = 0..size(A,0)-1
        q[i] = q[i]/2
        for j = 0..size(A,1)-1
            q[i] = q[i] - p[j]*A[i,j]
        end
        q[i] /= 3
    end
end

function q = by_function(A, p, q)
    add = (x, a, b) -> x + a*b
    for i = 0..size(A,0)-1
        for j = size(A,1)-1..-1..0
            q[i] = add(q[i], A[i,j], p[j])
        end
    end
end

function [s, q] = both(A, p, r)
    s = zeros(size(A,1))
    q = zeros(size(A,0))
    for i = 0..size(A,0)-1
        for j = 0..size(A,1)-1
            s[j] += r[i]*A[i,j]
            q[i] += A[i,j]*p[j]
        end
    end
end

function x = solve(L, b)
    x = zeros(numel(b))
    for i = 0..numel(b)-1
        x[i] = b[i]
        for j = 0..i-1
            x[i] -= L[i,j]*x[j]
        end
        x[i] /= 40
    end
end

function k = integers(k)
    for i = 0..size(k,0)-1
        for j = 1..size(k,1)-1
            k[i,0] += k[i,j]*2
        end
    end
end

function [] = show(q)
    for i = 0..numel(q)-1
        printf("%.9g", q[i])
    end
end

for n in [1, 8, 19]
    A = field(n, 21)
    p = A[0,:]*0.3
    q = field(1, n)[0,:]
    show(by_update(A, p, copy(q)))
    show(by_assignment(A, p, copy(q)))
    show(by_function(A, p, copy(q)))
    [s, t] = both(A, p, q)
    show(t)
    print sum(abs(s - q*A)) < 0.01
end
show(solve(field(19, 19), field(1, 19)[0,:]))
B = field(9, 9)
d = field(1, 9)[0,:]
show(by_update(B, d, d))          % p and q are one array
e = field(1, 9)[0,:]
show(by_assignment(B, e, e))
show(by_update(zeros(3, 0), zeros(0), [1,2,3]))
print integers(int(field(4, 9)))
print integers(uint8(abs(field(4, 9))))
