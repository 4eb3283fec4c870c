% Gradients with respect to arrays without elements are zeros in the shape of the variable.
function [] = show(name, f, x)
    try
        d = grad(v -> sum(f(v)) + sum(v), float64(x))
        printf("%s: %s, %d", name, num2str(size(d)), sum(d))
    catch e
        print name, ": ", e
    end
end
for x = {zeros(1,0), zeros(0,3), zeros(3,0)}
    print "of ", size(x)
    show("sum", v -> sum(v, 0), x)
    show("mean", mean, x)
    show("prod", prod, x)
    show("prod along", v -> prod(v, 1), x)
    show("cumsum", cumsum, x)
    show("cumprod", cumprod, x)
    show("var", var, x)
    show("diff", diff, x)
    show("sort", sort, x)
    show("flip", flip, x)
    show("max along", v -> max(v, [], 1), x)
    show("nanmedian", v -> nanmedian(v, 0), x)
    show("trapz", trapz, x)
    show("norm", norm, x)
    show("reshape", v -> reshape(v, [numel(v),1]), x)
    show("transpose", transpose, x)
    show("cat", v -> cat(0, v, v), x)
    show("product", v -> transpose(v)*v, x)
    show("repmat", v -> repmat(v, [2,2]), x)
    show("a read", v -> v[:], x)
    show("fused", v -> sin(v).*v, x)
end
print grad(v -> sum(diff(v, 0)) + sum(v), float64([1,2,3]))
print jvp(v -> sum(v), {float64(zeros(0,3))}, {float64(zeros(0,3))})
% Jacobians and Hessians have the dimensions of both arguments, whichever of them is empty
print size(jacobian(x -> x.^2, zeros(0))), size(jacobian(x -> zeros(0), [1,2])), size(jacobian(x -> sum(x)*ones(3), zeros(0)))
print size(jacobian(x -> x*2, zeros(2,0))), size(jacobian(x -> zeros(0), 2)), size(hessian(x -> sum(x.^2), zeros(0)))
