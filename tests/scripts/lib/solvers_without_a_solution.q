% Iterative solvers report breakdowns (flag 4), and sparse matrices whose positions are not exact are errors.
import "sparse.q"

one = float64([[1,0],[0,1]])
% The first direction is orthogonal to its image.
[x, flag, relres] = bicgstab(float64([[0,1],[-1,0]]), float64([1,0]))
print x, flag, " ", relres
% A singular matrix, whose image of the first residual is 0.
[x, flag, relres] = bicgstab(float64([[1,0],[0,0]]), float64([0,1]))
print all(isfinite(x)), " ", flag
[x, flag, relres, steps] = bicgstab(one, float64([0,0]))
print x, flag, " ", relres, " ", steps
try
    S = sparse([5,5], [1e15,1e15+1], 1, 10, 2e15)
catch e
    print e
end
try
    S = sparse([1,1], [1,2], 1, 2^30, 2^30)
catch e
    print e
end
