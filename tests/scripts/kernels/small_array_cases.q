% part: functions of small arrays in a kernel and outside, compared
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
