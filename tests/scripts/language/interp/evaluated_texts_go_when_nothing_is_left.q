% Functions, lambdas and kernels are defined again while other references hold the old ones.
kept = cell(10)
for i = 0..9
    eval(sprintf("function y = again(x)\n y = inner(x)+%d\nend\nfunction y = inner(x)\n y = (z -> 2*z)(x)\nend", i))
    kept[i] = eval(sprintf("x -> again(x)*%d", i))
    eval(sprintf("function [] = __kernel__ bump(x : vec, pos : int)\n x[pos] += extra(%d)\nend\nfunction y : scalar = __device__ extra(v : scalar)\n y = v+1\nend", i))
    eval("v = zeros(3); parallel_do(3, v, bump)")
    if mod(i, 3) == 0
        try
            eval(sprintf("function y = again(x)\n y = nowhere(x)\nend"))
        catch e
            print e
        end
    end
end
print eval("again(1)"), " ", eval("v")
for f = kept
    print f(1), " "
end
eval("total = 0")
for i = 0..999
    eval(sprintf("function y = part(x)\n y = x+%d\nend", mod(i, 5)))
    eval("total = total + part(1)")
end
print eval("total")
