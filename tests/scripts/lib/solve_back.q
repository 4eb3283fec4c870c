% Systems solved with the factors of an earlier solution.
near = (a, b) -> max(abs(a - b)) < 1e-5
A = [[0,2,1],[4,1,0],[1,0,5]]
B = [[1,2],[0,3],[4,1]]
[X, F] = solve(A, B)
print near(A*X, B), near(solve_back(A, B, F), solve(transpose(A), B)), " ", type(solve_back(A, B, F))
[Y, F] = linsolve(complex(A, transpose(A)), B)
print near(solve_back(complex(A, transpose(A)), B, F), solve(herm_transpose(complex(A, transpose(A))), B))
[Y, G] = solve(A, complex(B, 1))
print near(solve_back(A, B, G), solve(transpose(A), B)), near(solve_back(A, complex(B, 2), G), solve(transpose(A), complex(B, 2)))
print size(solve_back(zeros(0,0), zeros(0,2), zeros(0,1)))

% triangular and non-square matrices have no such factors
[X, F] = solve([[1,2],[0,3]], [[1],[2]])
[Y, G] = solve(A[:,0..1], B)
print F == null, G == null
print near(solve_back(A, B, null), solve(transpose(A), B)), solve_back([[1,2],[0,3]], [[1],[8]], F)

function [] = attempt(A, B, F)
    try
        print solve_back(A, B, F)
    catch e
        print e
    end
end
[X, F] = solve(A, B)
attempt(A, [[1],[2]], F)
attempt(A[:,0..1], B, F)
attempt(A, B, A)
attempt(A, B, [[1,0,0,1],[0,1,0,2],[0,0,1,2.5]])
attempt(A, B, [[1,0,0,1],[0,1,0,2],[0,0,1,0]])
attempt(A, B, [[1,0,0,1],[0,1,0,2],[0,0,1,4]])
attempt(A, B, true)
attempt([[1,2],[2,4]], [[1],[2]], null)
try
    [X, F] = solve([[1,2,4],[2,4,8],[1,1,1]], B)
catch e
    print e
end
