% Means of nine neighbours in place, so that each uses some that are new
import "../inputs.q"
function A = inputs(n)
    A = field(n, n)
end
function A = seidel_2d(A)
    n = size(A, 0)
    A = copy(A)
    for t = 1..5
        for i = 1..n-2
            for j = 1..n-2
                A[i,j] = (A[i-1,j-1] + A[i-1,j] + A[i-1,j+1] + A[i,j-1] + A[i,j] + A[i,j+1] + A[i+1,j-1] + A[i+1,j] + A[i+1,j+1])/9
            end
        end
    end
end
