% lu, qr with permuted columns, left vectors of eig, and grids of three dimensions, with their derivatives.
function close = near(a, b)
    close = isequal(size(a), size(b)) && max(abs(float64(1)*a-b)[:]) < 1e-11
end
function n = numeric(f, A)
    n = zeros_like(A)
    for i = 0..numel(A)-1
        E = reshape((0..numel(A)-1)==i, size(A))*float64(1e-6)
        n = n + 1e6*E*(f(A+E)-f(A-E))/2e-6
    end
end
function message = failure(f)
    message = "no error"
    try
        f()
    catch e
        message = e.message
    end
end
a = float64([[4,3,-1],[8,1,5],[-6,2,7]])
for A = {a, a+2j*transpose(a), a[:,0..1], a[0..1,:]+1j*a[1..2,:], float64([[0,1],[1,0]]), float64([[2]]), zeros(2,2)}
    [L, U, p] = lu(A)
    print near(L*U, A[p,:]), near(tril(L), L), near(triu(U), U), all(diag(L)[:] == 1), size(L), size(U)
    [L, U] = lu(A)
    print near(L*U, A)
    [Q, R, p] = qr(A)
    d = real(diag(R))
    print near(Q*R, A[:,p]), near(herm_transpose(Q)*Q, eye(size(Q,1))), near(sort(d[:], "descend"), d[:])
end
for A = {a, a+2j*transpose(a), float64([[0,1],[-1,0]])}
    [V, d, W] = eig(A)
    print near(A*V, V*diag(d)), near(herm_transpose(W)*A, diag(d)*herm_transpose(W)), near(sum(abs(W).^2, 0), ones(1,size(A,0)))
end
[x, y, z] = meshgrid(1..2, 1..3, 1..4)
print size(x), x[1,:,2], y[:,1,3], squeeze(z[2,1,:])
[x, y] = meshgrid(1..2, 1..3, 1..4)
print size(y)
[x, y, z] = meshgrid(5..6)
print squeeze(z[0,0,:]), y[:,0,0], x[0,:,0]

function s = of_lu(A)
    [L, U, p] = lu(A)
    s = sum((L.*sin(L))[:]) + sum(cos(U)[:])
end
function s = of_two(A)
    [L, U] = lu(A)
    s = sum((float64(1..3)*(L.*sin(L)))[:]) + sum(cos(U)[:])
end
function s = of_qr(A)
    [Q, R, p] = qr(A)
    s = sum((Q.*sin(Q))[:]) + sum(cos(R)[:])
end
function s = of_grid(v)
    [x, y, z] = meshgrid(v)
    s = sum(sin(x.*y + 2*z.*x)[:])
end
for f = {of_lu, of_two, of_qr}
    print max(abs(grad(f, a) - numeric(f, a))[:]) < 1e-4
end
v = float64(1..3)/2
print max(abs(grad(of_grid, v) - numeric(of_grid, v))) < 1e-4
try
    print lu(a)
catch e
    print e.message
end
print failure(() -> grad(of_lu, a[:,0..1]))
print failure(() -> grad(of_lu, zeros(2,2)))
function [] = too_few()
    [x, y, z] = meshgrid(1..2, 1..2)
end
function [] = without()
    [L, U] = lu([])
end
function [] = not_square()
    [V, d, W] = eig(a[:,0..1])
end
print failure(too_few), failure(without)
print failure(not_square)
