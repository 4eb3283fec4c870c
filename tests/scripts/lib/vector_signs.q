% Vectors of a factorization are normalized: their first large element is real and positive; the diagonal of R is >= 0.
% needs: lapack
near = (a, b) -> max(abs(a - b)) < 1e-12
function ok = is_positive(A)
    ok = true
    for k = 0..min(size(A))-1
        ok = ok && real(A[k,k]) >= 0 && imag(A[k,k]) == 0
    end
end
B = float64([[1,2,3],[-4,5,6],[7,-8,9],[2,2,-1]])
Z = complex(B, B[[1,0,3,2],:])
[Q, R] = qr(B)
print near(Q*R, B), is_positive(R), R[2,0], " ", near(qr(-B), -Q)
[Q, R] = qr(Z)
print near(Q*R, Z), is_positive(R)
[Q, R] = qr(transpose(B))
print near(Q*R, transpose(B)), is_positive(R), size(Q), size(R)

% in (1,-1) and (1,1), (1,1) and (-1,1), the first element decides
[V, d] = symeig(float64([[2,1],[1,2]]))
print near(V, sqrt(0.5).*float64([[1,1],[-1,1]]))
[V, d] = symeig(float64([[2,-1,0],[-1,2,-1],[0,-1,2]]))
print V[0,0] > 0, V[1,0] > 0, V[0,1] > 0, V[0,2] < 0, V[1,2] > 0
H = Z*herm_transpose(Z)
[V, d] = symeig(H)
print near(H*V, V*diagm(complex(d,0))), near(herm_transpose(V)*V, float64(eye(4)))
[U, S, W] = svd(Z)
print near(U*complex(S,0)*herm_transpose(W), Z)
for M = {V, U}
    for k = 0..2
        v = M[:,k]
        i = 0
        while abs(v[i,0]) < 0.9*max(abs(v))
            i += 1
        end
        print imag(v[i,0]) == 0 && real(v[i,0]) > 0
    end
end
[U, S, W] = svd(transpose(B))
[u, s, w] = svd(-transpose(B))
print near(U, u), near(S, s), near(W, -w), near(U*S*transpose(W), transpose(B))
