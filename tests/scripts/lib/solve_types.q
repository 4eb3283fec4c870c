% The result of solve has the wider type of both arguments, like other results.
% needs: lapack
a = [[4,1],[1,3]]
b = [[1,2],[3,4]]
print type(solve(a, b))
print type(solve(a, float64(b))), " ", type(solve(float64(a), b))
print type(solve(complex(a, b), b)), " ", type(solve(a, complex(float64(b), 1)))
print type(solve(b[:,0..0], b)) % least squares
