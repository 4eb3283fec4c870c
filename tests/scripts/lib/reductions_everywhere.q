% tolerance: 1e-4
% The reductions with a map or a centre on the host, along an axis, in kernels, in loops, in fused expressions and
% as derivatives; numbers from NumPy and SciPy.
x = [0.5, -2, 1.5, -2, 3]
A = [[1,-2,3],[-4,5,-6]]
print norm1(x), " ", norm1(A), " ", norm1(A,0), " ", norm1(A,1), " ", norm1([3+4j,-1]), " ", norm1(7)
print norm1([])
print logsumexp(x), " ", logsumexp(A,0), " ", logsumexp(A,1), " ", logsumexp([1000,1000]), " ", logsumexp([-1000,-1001]), " ", logsumexp(2)
print argmin(x), " ", argmax(x), " ", argmin(A), " ", argmax(A), " ", argmin(A,0), " ", argmax(A,0)
print argmin(A,1), " ", argmax(A,1), " ", argmin(4)
print logsumexp([]), " ", logsumexp([inf,1]), " ", logsumexp([-inf,-inf]), " ", logsumexp([nan,1]), " ", norm1([nan,1]), " ", norm1([-inf,1])
print argmin([nan,2,1]), " ", argmax([nan,2,1]), " ", argmin([nan,nan]), " ", argmax([-inf,-inf]), " ", argmin([inf,inf])
print type(argmin(uint8([3,1]))), " ", argmin(uint8([3,1])), " ", norm1(int([-3,4])), " ", norm1(uint8([200,200])), " ", logsumexp(int([1,2]))

function s = message(f)
    s = ""
    try
        print f()
    catch e
        s = e
    end
end
print message(() -> argmin([]))
print message(() -> argmax([1j]))
print grad(v -> logsumexp(v), [1e8,1e8]), grad(v -> sum(logsumexp(v, 1)), [[1e5,1e5],[1e7,1e7]])
print message(() -> logsumexp([1j,2]))
print message(() -> logsumexp([[1j,2],[3,4]], 0))
print message(() -> argmin(zeros(0,3), 0))
print message(() -> norm1("text"))

% kernels: small arrays, and arrays of unknown size
function [] = __kernel__ small(y : vec, pos : int)
    v = [0.5, -2, 1.5, -2, 3.0 + pos]
    y[0] = norm1(v)
    y[1] = logsumexp(v)
    y[2] = argmin(v)
    y[3] = argmax(v)
    y[4] = norm1([3, -4 + pos])
    y[5] = argmax([3, 4 + pos, 4])
end
function [] = __kernel__ large(y : vec, x : vec, A : mat, k : vec[int], pos : int)
    y[0] = norm1(x)
    y[1] = logsumexp(x)
    y[2] = argmin(x)
    y[3] = argmax(x)
    y[4] = norm1(A)
    y[5] = logsumexp(A)
    y[6] = argmin(A)
    y[7] = argmax(A)
    y[8] = norm1(k)
    y[9] = logsumexp(k)
    y[10] = argmin(k)
    y[11] = argmax(k)
end
y = zeros(6)
parallel_do(1, y, small)
print y
z = zeros(12)
parallel_do(1, z, x, A, int([5,-7,2]), large)
print z
w = zeros(12)
parallel_do(1, w, [nan,inf,2], A, int([5,-7,2]), large)
print w[0..3]

% loops: vectors of known length, and slices
function t = rows(B)
    t = zeros(size(B,0), 5)
    for i = 0..size(B,0)-1
        t[i,0] = norm1(B[i,:])
        t[i,1] = logsumexp(B[i,:])
        t[i,2] = argmin(B[i,:])
        t[i,3] = argmax(B[i,:])
        v = [B[i,0], B[i,1], -B[i,0]]
        t[i,4] = norm1(v) + logsumexp(v) + 10*argmin(v) + 100*argmax(v)
    end
end
print rows(A)
B = reshape(mod((0..3999)*7, 11) - 5.5, [4,1000])
print rows(B)

% large arrays, and fused expressions
n = 100000
u = mod((0..n-1)*7, 13) - 6
print norm1(u), " ", argmin(u), " ", argmax(u), " ", logsumexp(u/10)
print norm1(u.*2 - 1), " ", logsumexp(u.*0.1 + 1), " ", argmax(u.*0.5 - 1)
C = reshape(u, [100,1000])
S = C.*0.1 - logsumexp(C.*0.1, 1)
print S[0,0], " ", max(abs(sum(exp(S),1) - 1)) < 1e-5
T = C./norm1(C, 0)
print max(abs(norm1(T,0) - 1)) < 1e-5
print sum(argmin(C,1)), " ", sum(argmax(C,0)), " ", sum(logsumexp(C,0)), " ", sum(norm1(C,1))

% derivatives
print grad(v -> norm1(v), x), " ", grad(v -> logsumexp(v), x)
print grad(M -> sum(logsumexp(M,1).*[[1],[2]]), A), " ", grad(M -> sum(norm1(M,0)), A)
print grad(v -> logsumexp(v.*2 - 1), x), " ", grad(v -> norm1(v.*2 - 1), x), " ", grad(v -> v[argmax(v)]*2, x)
