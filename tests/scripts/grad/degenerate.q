% Matrices that are singular, rank-deficient or have equal eigenvalues: the derivative, or an error with the reason.
% LAPACK decides whether a zero is -0; adding 0 removes the sign.
function [] = show(name, f, x)
    try
        printf("%s: %s", name, num2str(round(grad(f, float64(x))*1e6)/1e6 + 0))
    catch e
        print name, ": ", e
    end
end
total = x -> sum(x.*reshape(1..numel(x), size(x)))
flat = [[1,2,3],[4,5,6],[7,8,9]]
twice = [[2,1],[4,2],[6,3]]
two = [[2,0,0],[0,1,0],[0,0,1]]
nearly = float64(two)
nearly[2,2] += 4e-16

print "determinants"
show("rank 2 of 3", det, flat)
show("rank 1 of 3", det, [[1,2,3],[2,4,6],[3,6,9]])
show("of a number", det, 0)
print hessian(det, float64(zeros(2,2)))
function y = rows(n) % two of them are equal
    y = float64(sin(transpose(1..n)*(1..n).^2))
    y[n-1,:] = y[0,:]
end
print gradcheck(det, rows(4)), gradcheck(det, rows(10)), gradcheck(x -> total(grad(det, x)), rows(4))
print gradcheck(x -> total(grad(det, x)), rows(9)), gradcheck(x -> real(det(x)), complex(rows(3), rows(3)))
show("logdet", logdet, two*0)
show("logdet of rank 2", logdet, [[1,2,3],[2,4,6],[0,0,1]])
show("cond", cond, twice*0)
show("inv", x -> total(inv(x)), two*0)

print "vectors of equal values"
function s = of_first(C)
    [V, d] = symeig(C)
    s = sum(V[:,0].*transpose([1,2,3]))
end
function s = of_last(C)
    [V, d] = symeig(C)
    s = total(V[:,[2]]*transpose(V[:,[2]]))
end
function s = of_values(C)
    [V, d] = symeig(C)
    s = sum(d.^2)
end
function s = put_together(C)
    [V, d] = symeig(C)
    s = total(V*diagm(d)*transpose(V))
end
show("first", of_first, two)
show("last, of two that differ by rounding alone", of_last, nearly)
show("first of these", of_first, nearly)
function s = of_largest(C)
    [V, d] = symeig(C)
    i = find_index_max(reshape(d, 3))
    s = total(V[:,[i]]*transpose(V[:,[i]]))
end
function s = of_largest_scaled(C)
    [V, d] = symeig(C)
    i = find_index_max(reshape(d, 3))
    s = total(d[i]*V[:,[i]]*transpose(V[:,[i]]))
end
function s = of_singular(C)
    [U, S, V] = svd(C)
    s = total(U[:,[0]]*transpose(V[:,[0]]))
end
function s = of_eigenvector(C)
    [V, d] = eig(C)
    i = find_index_max(reshape(real(d), 3))
    s = total(real(V[:,[i]]*transpose(V[:,[i]])))
end
show("one whose value is another's", of_largest, two)
show("the same of a nonsymmetric matrix", of_eigenvector, two)
show("of singular vectors", of_singular, two)
show("with its value", of_largest_scaled, two)
show("values", of_values, two)
show("values alone", x -> sum(symeig(x).^3), two)
show("put together", put_together, two)
show("put together from nothing", put_together, two*0)

print "in float32, too"
function [] = coarse(name, f, x)
    try
        print name, ": ", grad(f, float32(x))
    catch e
        print name, ": ", e
    end
end
close = two
close[2,2] += 2e-7
coarse("first", of_first, close)
coarse("one whose value is another's", of_largest, close)
coarse("apart", x -> sum(symeig(x).^2), close)

print "singular values"
function s = of_u(M)
    [U, S, V] = svd(M)
    s = total(U)
end
function s = of_v(M)
    [U, S, V] = svd(M)
    s = sum(V[:,0].^2.*transpose([1,2])) + sum(V[:,1].^2)
end
function s = of_first_two(M)
    [U, S, V] = svd(M)
    s = S[0,0]*(U[0,0]*V[1,0])
end
function s = whole(M)
    [U, S, V] = svd(M)
    s = total(U*S*transpose(V))
end
show("values", x -> sum(svd(x).^2), twice)
show("left vectors", of_u, twice)
show("right vectors", of_v, twice)
show("the nearest matrix of rank 1", of_first_two, [[2,0],[0,1],[0,0]])
show("whole", whole, twice)
show("whole, equal", whole, eye(2))
show("whole, nothing", whole, zeros(2,2))
print gradcheck(whole, float64([[1,2],[3,5],[4,4]])), gradcheck(whole, float64([[1,2,3],[3,5,1]]))

print "triangles"
function s = of_q(A)
    [Q, R] = qr(A)
    s = total(Q)
end
show("chol", x -> total(chol(x)), [[1,2],[2,4]])
show("qr", of_q, twice)
show("qr of a wide matrix", of_q, [[1,2,3],[2,4,5]])
show("qr of a wide matrix, its first columns independent", of_q, [[1,2,3],[0,4,8]])

print "eigenvectors that are too few"
show("eig", x -> real(sum(eig(x).^2)), [[1,1],[0,1]])
show("eig, enough", x -> real(sum(eig(x).^2)), [[1,1],[0,2]])

print "least squares, norms"
show("pinv", x -> total(pinv(x)), twice)
show("solve", x -> total(solve(x, float64([[1],[2],[4]]))), twice)
show("norm", norm, two*0)
show("std", std, [2,2,2])

print "gradcheck sees imaginary parts"
{!adjoint turned_rule}
function y = turned(z)
    y = 1j*z
end
function dz = turned_rule(z, y, dy) % right for real dy alone
    dz = -1j*conj(dy)
end
try
    print gradcheck(turned, complex(float64([1,2]), float64([3,4])))
catch e
    print "a wrong one is found"
end
