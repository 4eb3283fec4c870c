% A built-in that kernels lack says what to write instead, or else that it can be called outside.
% devices: cpu
function [] = attempt(call)
    try
        eval(sprintf("function [] = __kernel__ k(x : vec, pos : int)\n v = [x[0],x[1]]\n m = [v,v]\n n = %s\nend\n", call) + _
             "parallel_do(1, [1,2], k)")
    catch e
        print e.message
    end
end
for call = {"sqrtm(m)", "orth(m)", "accumarray(v, v)", "besselj(0, 1)", "butter(2, 0.5)", _
            "shared(vec[int](16))", "shared(vec[int](8))", "assert(x[0] > 2, ""got "", x[0])", "find(v > 1)", "unique(v)", "bincount(v)", "quantile(v, 0.5)", _
            "percentile(v, 50)", "interp2(m, 0.5, 0.5)", "meshgrid(v, v)", "tic()", "toc()", "time()", "dict()", "fft1(v)", _
            "blkpos", "warpsize", "wp", "popcount"}
    attempt(call)
end
