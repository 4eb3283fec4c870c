% More functions of small arrays in kernels against the host: linear systems, eigenvalues, exponentials and others.
% devices: ref cpu
import "small_array_cases.q"
function at = __device__ systems(x, y)
    [v, w, n, m, t] = given(x)
    at = put(y, 0, pinv(t))
    at = put(y, at, pinv(transpose(t)))
    at = put(y, at, pinv(m, 1))
    at = put(y, at, rank(m) + 10*rank([v,w,v+w]) + 100*rank([[1,2],[2,4]]))
    [l, u, p] = lu(m)
    at = put(y, put(y, put(y, at, l), u), p)
    [l, u, p] = lu(t)
    at = put(y, put(y, put(y, at, l), u), p)
    [l, u] = lu(transpose(t))
    at = put(y, put(y, at, l), u)
    [l, u] = lu([[0,2,1],[4,x[0],1],[2,2,9]])
    at = put(y, put(y, at, l), u)
    at = put(y, at, expm(n/2))
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
compare("systems", systems)
compare("eigenvalues", eigenvalues)
compare("others", others)
slopes(__device__ x -> sum(softmax([x[0],x[3],x[1]]).*[1,2,3]) + rms([x[4],x[5]]))
