% tolerance: 1e-4
% needs: lapack
A = [[4,1,2],[1,3,0],[2,0,5]]
B = [[1,2],[3,4],[5,6]]
I = eye(3)
near = (x, y) -> max(abs(x - y)) < 1e-4
print near(A*inv(A), I), near(A*solve(A, B), B), near(linsolve(A, B), inv(A)*B), " ", det(A), " ", logdet(A) - log(det(A)) < 1e-6, " ", trace(A)
print rank(A), rank([[1,2],[2,4]]), " ", cond(eye(2)), " ", det([[0,1],[1,0]])
R = chol(A)
print near(transpose(R)*R, A), R[1,0]
[Q, R] = qr(B)
print near(Q*R, B), near(transpose(Q)*Q, eye(2)), " ", size(Q)
[U, S, V] = svd(B)
print near(U*S*transpose(V), B), " ", size(U), size(S), size(V), " ", svd(diagm([1,3,2]))
[V, d] = symeig(A)
print near(V*diagm(d)*transpose(V), A), " ", symeig(diagm([2,1])), " ", type(d)
[V, d] = eig([[0,1],[-1,0]])
print d, " ", near(abs([[0,1],[-1,0]]*V - V*diagm(d)), zeros(2,2))
d = sort(imag(eig(float64(rand(10,10)))))
print max(d) > 0.1, max(abs(d + fliplr(d)))    % conjugates exactly
for f = {eig, symeig, svd, rank, pinv}
    try
        f([[1,2],[nan,3]])
    catch e
        print e
    end
end
print symeig([[1,nan],[2,1]])                  % the lower half counts
try
    rank([[1,inf],[2,3]])
catch e
    print e
end
print sort(real(roots([1,-6,11,-6]))), sort(imag(roots([0,0,2,0,8]))), real(roots([1,2,0,0])), roots([7]), roots([]), roots([0,0])
near_roots = p -> max(abs(polyval(p, roots(p)))) < 1e-8
print near_roots(float64([3,-2,5,1])), near_roots(complex(float64([1,2,3]), float64([0,1,-1]))), type(roots(float64([1,2])))
try
    roots([1,nan])
catch e
    print e
end
P = pinv(B)
print near(B*P*B, B), " ", size(P)
Z = [[2,1j],[-1j,3]]
print near(Z*inv(Z), eye(2)), " ", det(Z), " ", symeig(Z), " ", near(herm_transpose(chol(Z))*chol(Z), Z)
[U, S, V] = svd([[1,2j],[3,4]])
print near(U*S*herm_transpose(V), [[1,2j],[3,4]])
x = solve([[1,0],[1,1],[1,2]], [[1],[3],[5]])
print x
try
    inv([[1,2],[2,4]])
catch e
    print e
end
try
    chol([[1,2],[2,1]])
catch e
    print e
end
try
    det([1,2])
catch e
    print e
end

% triangular matrices, which need no elimination
T = [[2,1,0.5],[0.5,3,1],[1,0.25,4]]
B = [[1,2],[3,4],[5,6]]
for t = {triu(T), tril(T), diagm(diag(T)), triu(T)+1j*triu(T,1), tril(T)*(1+2j)}
    print max(abs(t*solve(t, B) - B)) < 1e-5
end
for t = {[[1,2],[0,0]], [[0,0],[1,2]]}
    try
        print solve(t, [[1],[2]])
    catch e
        print e
    end
end
% Systems whose columns, or rows, are linearly dependent as far as rounding allows a decision.
for A = {float64([[1,2],[2,4],[3,6]]), float64([[1,2,3],[2,4,6]]), [[1,1,0],[1,1,0],[0,0,1],[1,1,1]], complex([[1,2],[2,4],[3,6]])*(1+1j), 0.1*[[1,3],[2,6],[4,12]]}
    try
        print solve(A, ones(size(A,0),1))
    catch e
        print e
    end
end
print max(abs(solve(float64([[1,0],[0,1e-9],[0,0]]), float64([[1],[1],[1]])) - [[1],[1e9]])) < 1e-3
try
    print polyfit([1,1,2], [1,2,3], 2)
catch e
    print e
end
print polyfit([2,2], [1,3], 0)
