% exit: 1
% An error in a derivative rule is reported at the line of the operation, also in a derivative of a derivative.
function s = first(x)
    [q, r] = qr(x)
    s = r[0,0]*q[1,0]
end
outer = x -> sum(grad(first, x).^2)
try
    h = hvp(first, float64([[1,2],[2,4]]), float64(eye(2)))
catch e
    print e
end
print grad(outer, float64([[1,2],[2,4]]))
