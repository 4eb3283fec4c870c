% Built-ins for small arrays in kernels (stdlib/kernels.q) against the built-ins of the host: the same device functions run
% in a kernel and outside, and so do their derivatives.  Compilers for OpenCL need long for so many loops:
% small_matrices.q runs some of them on every device.
% devices: ref cpu
function at = __device__ put(y, at, r)
    v = isscalar(r) ? [r] : reshape(r, [1,numel(r)])
    for k = 0..numel(v)-1
        y[at+k] = v[k]
    end
    at += numel(v)
end
function [v, w, n, m, t] = __device__ given(x)
    v = [x[0],x[1],x[2]]
    w = [x[3],x[4],x[5]]
    n = [[x[0]+1,x[1]],[x[2],x[3]+3]]
    m = [[x[0],x[1],x[2]],[x[1],x[3]+5,x[4]],[x[2],x[4],x[5]+9]]
    t = [[x[0],x[1]],[x[2],x[3]],[x[4],x[0]]]
end
function at = __device__ products(x, y)
    [v, w, n, m, t] = given(x)
    at = put(y, 0, cross(v, w))
    at = put(y, at, det(m))
    at = put(y, at, det(n))
    at = put(y, at, trace(m))
    at = put(y, at, inv(n))
    at = put(y, at, solve(m, transpose(v)))
    at = put(y, at, m*transpose(v) + t*transpose([1,2]))
    at = put(y, at, kron(n, [1,2]))
    at = put(y, at, det([[x[0],x[1],x[2],x[5]],[x[1],x[3]+5,x[4],x[0]],[x[2],x[4],x[5]+9,x[1]],[x[5],x[1],x[3],x[2]]])/10)
end
function at = __device__ decompositions(x, y)
    [v, w, n, m, t] = given(x)
    [q, r] = qr(t)
    at = put(y, put(y, 0, q), r)
    at = put(y, at, chol(m + 9*eye(3)))
    [e, d] = symeig(m)
    at = put(y, put(y, at, e), d)
    at = put(y, at, symeig(m))
    at = put(y, at, svd(t))
    at = put(y, at, cond(m))
    [a, s, b] = svd(transpose(t))
    at = put(y, put(y, put(y, at, a), s), b)
end
function at = __device__ orders(x, y)
    [v, w, n, m, t] = given(x)
    at = put(y, 0, sort(w - 2*v))
    at = put(y, at, sort(-m))
    at = put(y, at, sort(m, 1))
    at = put(y, at, sort(v, "descend"))
    [s, i] = sort([w[1],v[2],w[0]])
    at = put(y, put(y, at, s), i)
    [s, i] = max([v[0],w[1],v[1]])
    at = put(y, put(y, at, s), i)
    at = put(y, at, median(w))
    at = put(y, at, median(t))
    at = put(y, at, median(n, 1))
end
function at = __device__ sums(x, y)
    [v, w, n, m, t] = given(x)
    at = put(y, 0, sum(m, 0))
    at = put(y, at, sum(m, 1))
    at = put(y, at, sum(v, 1))
    at = put(y, at, prod(t, 0))
    at = put(y, at, mean(t, 1))
    at = put(y, at, min(m, [], 0))
    at = put(y, at, max(t, [], 1))
    at = put(y, at, any(m - x[0], 0))
    at = put(y, at, all(m - x[0], 1))
    at = put(y, at, var(v))
    at = put(y, at, var(m, 0))
    at = put(y, at, std(t, 1))
    at = put(y, at, var(m, 1, 0))
    at = put(y, at, cumsum(v))
    at = put(y, at, cumsum(m, 1))
    at = put(y, at, cumprod(t))
    at = put(y, at, diff(v))
    at = put(y, at, diff(m))
end
function at = __device__ moves(x, y)
    [v, w, n, m, t] = given(x)
    at = put(y, 0, flip(v))
    at = put(y, at, flip(m, 1))
    at = put(y, at, fliplr(t))
    at = put(y, at, flipud(t))
    at = put(y, at, vertcat(v, w, m))
    at = put(y, at, horzcat(t, m))
    at = put(y, at, diag(m))
    at = put(y, at, diag(v))
    at = put(y, at, repmat(v, 2, 1))
    at = put(y, at, repmat(n, [2,2]))
    at = put(y, at, squeeze(transpose(v)))
    at = put(y, at, permute(t, [1,0]))
    at = put(y, at, circshift(v, 1))
    at = put(y, at, circshift(m, [1,-1]))
    at = put(y, at, tril(m))
    at = put(y, at, triu(m, 1))
    at = put(y, at, polyval(v, 2))
end
function at = __device__ signals(x, y)
    [v, w, n, m, t] = given(x)
    at = put(y, 0, conv(v, w))
    at = put(y, at, conv(w, [x[0],x[1]]))
    at = put(y, at, conv(v, w, "same"))
    at = put(y, at, conv(w, [x[0],x[1]], "same"))
    at = put(y, at, conv(w, [x[0],x[1]], "valid"))
    at = put(y, at, trapz(w))
    at = put(y, at, trapz(v, w))
    at = put(y, at, interp1(v, w, x[0] + 0.75))
    at = put(y, at, interp1(v, w, [x[0],x[1]+0.5,x[2]]))
    at = put(y, at, isnan(interp1(v, w, x[5])) && isnan(interp1(v, w, x[0]-1)) ? 3 : 4)
    at = put(y, at, mode([x[3],x[1],x[0],x[1],x[3]]))
    at = put(y, at, cat(0, n, n))
    at = put(y, at, cat(1, m, t, m))
    at = put(y, at, isequal(v, v) ? 1 : 2)
    at = put(y, at, isequal(v, w) ? 1 : 2)
    at = put(y, at, isequal(v, [x[0],x[1]]) ? 1 : 2)
    at = put(y, at, isnumeric(v) && isnumeric(x[0]) && !isstring(v) && !isobject(v) && !isfunction(v) ? 1 : 2)
end
function at = __device__ systems(x, y)
    [v, w, n, m, t] = given(x)
    at = put(y, 0, pinv(t))
    at = put(y, at, pinv(transpose(t)))
    at = put(y, at, pinv([[1,2],[2,4],[x[0]*3,6]]))
    at = put(y, at, pinv(m, 1))
    at = put(y, at, rank(m) + 10*rank([v,w,v+w]) + 100*rank([[1,2],[2,4]]) + 1000*rank(m, 1))
    at = put(y, at, rank(0*m) + 1)
    [l, u, p] = lu(m)
    at = put(y, put(y, put(y, at, l), u), p)
    [l, u, p] = lu(t)
    at = put(y, put(y, put(y, at, l), u), p)
    [l, u] = lu(transpose(t))
    at = put(y, put(y, at, l), u)
    [l, u] = lu([[0,2,1],[4,x[0],1],[2,2,9]])
    at = put(y, put(y, at, l), u)
    at = put(y, at, expm(n/2))
    at = put(y, at, expm(m/4))
end
% The order of eigenvalues is not defined, so that this compares what does not depend on it.
function e = __device__ eigen_error(a)
    [v, d] = eig(a)
    e = norm(a*v - v*diagm(d)) > 1e-5 ? 1000 : 0
    e += abs(sum(d) - trace(a)) > 1e-5 ? 100 : 0
    e += abs(norm(v) - sqrt(size(a,0))) > 1e-5 ? 10 : 1
end
function at = __device__ eigenvalues(x, y)
    [v, w, n, m, t] = given(x)
    at = int(0)
    for k = 0..6
        a = k == 0 ? m/9 : k == 1 ? x[2]*eye(3) : k == 2 ? [[0,x[0],0],[-1,0,1],[0,1,2]] : k == 3 ? zeros(3,3) : _
            k == 4 ? [[0,1,0],[0,0,1],[x[0],0,0]] : k == 5 ? [[0,1,0],[0,0,1],[0,0,0]] : [[0,-2,1],[-1,0,0],[-1,x[0],-1]]
        at = put(y, at, eigen_error(a))
    end
    at = put(y, at, eigen_error([[complex(1,2),complex(x[1],0)],[complex(0,1),complex(3,-1)]]))
    at = put(y, at, sort(real(eig(m))))
    at = put(y, at, sort(imag(eig([[0,x[1]],[-x[3],1]]))))
end
function at = __device__ others(x, y)
    [v, w, n, m, t] = given(x)
    at = put(y, 0, rot90(m))
    at = put(y, at, rot90(t, -1))
    at = put(y, at, rot90(v, 2))
    at = put(y, at, softmax(v))
    at = put(y, at, softmax(m, 0))
    at = put(y, at, log_softmax(m, -1))
    at = put(y, at, gcd(int(12)*int(x[5]), int(30)) + lcm(int(x[3]), int(x[5])))
    at = put(y, at, gcd(0, 0) + lcm(0, 5) + 1)
    at = put(y, at, cummax([w[1],v[0],w[2]]))
    [a, i] = cummin(m, 0)
    at = put(y, put(y, at, a), i + 1)
    at = put(y, at, rms(v))
    at = put(y, at, rms(m, 0))
end
function [] = __kernel__ run(x : vec, y : vec, f, count : vec[int], pos : int)
    count[0] = f(x, y)
end
function [] = compare(name, f)
    x = [1,2,3,4,5,6.5]
    y = zeros(128)
    count = vec[int](1)
    parallel_do(1, x, y, f, count, run)
    z = zeros(128)
    n = f(x, z)
    wrong = abs(y - z) > 2e-4*(1 + abs(z))
    print name, ": ", n == count[0], " ", sum(z != 0) > n/2, " ", sum(wrong), " wrong"
end
compare("products", products)
compare("decompositions", decompositions)
compare("orders", orders)
compare("sums", sums)
compare("moves", moves)
compare("signals", signals)
compare("systems", systems)
compare("eigenvalues", eigenvalues)
compare("others", others)

% derivatives
function [] = __kernel__ one(x : vec, y : vec, f, pos : int)
    y[0] = f(x)
end
function y = launched(f, x)
    y = zeros(1)
    parallel_do(1, x, y, f, one)
    y = y[0]
end
function [] = slopes(f)
    x = [1,2,3,4,5,6.5]
    print max(abs(grad(x -> launched(f, x), x) - grad(f, x))) < 1e-3
end
matrix = __device__ x -> [[x[0]+5,x[1],x[2]],[x[1],x[3]+5,x[4]],[x[2],x[4],x[5]+9]]
slopes(__device__ x -> det(matrix(x))/10)
slopes(__device__ x -> sum(inv(matrix(x))))
slopes(__device__ x -> sum(expm(matrix(x)/20)) + rot90(matrix(x))[0,0])
slopes(__device__ x -> sum(softmax([x[0],x[3],x[1]]).*[1,2,3]) + rms([x[4],x[5]]))
slopes(__device__ x -> sum(cross([x[0],x[1],x[2]], [x[3],x[4],x[5]]).*[1,2,3]))
slopes(__device__ x -> conv([x[0],x[1],x[2]], [x[3],x[4]])[1] + trapz(x) + interp1([0,1,2], [x[0],x[3],x[1]], 1.25))
slopes(__device__ x -> std([x[0],x[5],x[2]]) + median([x[0],x[5],x[2]]) + sum(sort([x[4],x[1]]).*[1,3]))

% a built-in that kernels lack
function [] = __kernel__ lacks(x : vec, pos : int)
    x[0] = bincount([1,2])
end
try
    parallel_do(1, [1], lacks)
catch e
    print e
end
