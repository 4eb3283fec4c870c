% Inner loops of a few iterations, and loops over the elements of short vectors, are unrolled: their code has no loop,
% so that all indices are known.  Results are as in the interpreter; sizes that change give new code.
function C = product(A, B)
    m = size(A, 0)
    C = zeros(m, m)
    for i = 0..m-1
        for j = 0..m-1
            for l = 0..m-1
                C[i,j] += A[i,l]*B[l,j]
            end
        end
    end
end
function P = power_of(A, n)
    P = eye(size(A, 0))
    for k = 1..n
        P = product(P, A)
    end
end
for m = 1..5
    A = reshape(mod((0..m*m-1)*7, 11) + 1, [m,m])
    P = power_of(A./sum(A, 1), 40)
    printf("%d: %.9g %.9g", m, P[0,0], P[m-1,0])
end

% channels: the number of iterations follows from the array
function y = weighted(x)
    y = zeros(size(x, 0))
    for i = 0..size(x, 0)-1
        s = 0
        for c = 0..size(x, 1)-1
            if c == 1
                s -= x[i,c]
            else
                s += (c + 1)*x[i,c]
            end
            last = c
        end
        y[i] = s + last
    end
end
for channels = [2,3,4,1,7,3]
    printf("%.9g", sum(weighted(mod(reshape(0..50*channels-1, [50,channels])*7, 13)/13)))
end

% a loop that may end early, a counter that is set, a step, an index that is wrong
function s = searched(v, n)
    s = 0
    for i = 1..n
        w = [i, 2*i, mod(i*7, 5), 3]
        for k = 0..3
            if w[k] == v
                break
            end
            w[k] = -w[k]
        end
        for k = 3..-2..0
            s += w[k]*(k + 1)
        end
    end
end
print searched(6, 50), " ", searched(3, 50)
t = 0
try
    for i = 1..20
        w = [i, i, i]
        for k = 0..2
            w[k+1] = i > 15 ? k : 1
            t += w[k]
        end
    end
catch e
    print e, ": ", t
end
