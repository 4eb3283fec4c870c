% Products with transpose(A) read A directly; the result equals the product with a copy.
A = reshape(mod((0..11)*5, 12), [3,4])
B = reshape(mod((0..14)*4, 7), [5,3])
v = [1,2,3]
w = [1,2,3,4]
At = transpose(A)
Bt = transpose(B)
print isequal(At*transpose(v), transpose(A)*transpose(v)), " ", isequal(w*At, w*transpose(A))
print isequal(At*Bt, transpose(A)*transpose(B)), " ", isequal(B*A, B*transpose(At)), " ", isequal(At*A, transpose(A)*A)
print isequal(A*At, A*transpose(A)), " ", transpose(A)*A[:,1], v*transpose(B), transpose(v)*v, v*transpose(v)
print type(transpose(int(A))*int(B[0..2,:])), " ", isequal(transpose(int(A))*int(B[0..2,:]), int(At)*int(B[0..2,:]))
print isequal(transpose(complex(A,1))*transpose(v), complex(At,1)*transpose(v))
z = 2
print transpose(A)*z, z*transpose(A), transpose(z)*A[0,:]
try
    print transpose(A)*w
catch e
    print e
end
try
    print transpose("a")*A
catch e
    print e
end
x = transpose(A)*v[1] + At
x[0,0] = 99                              % the result is an array of its own
print A[0,0]
A = transpose(A)*A
print A[0,:]

M = reshape(mod((0..249999)*37, 101)/64 - 0.5, [500,500])
N = reshape(mod((0..249999)*53, 97)/64 - 0.5, [500,500])
c = M[:,7]
r = N[11,:]
Mt = transpose(M)
Nt = transpose(N)
function [] = near(a, b)
    print isequal(size(a), size(b)), " ", max(abs(a - b)) <= 1e-5*max(abs(b))
end
near(transpose(M)*c, Mt*c)
near(r*transpose(N), r*Nt)
near(transpose(M)*N, Mt*N)
near(M*transpose(N), M*Nt)
near(transpose(M)*transpose(N), Mt*Nt)
near(float64(r)*float64(M), transpose(transpose(float64(M))*transpose(float64(r))))
near(r*M, transpose(Mt*transpose(r)))
near(r[0..6]*M[0..6,0..2], transpose(Mt[0..2,0..6]*transpose(r[0..6])))
near(grad(M -> sum(transpose(M)*c), M), repmat(c, [1,500]))
