import "../inputs.q"
function A = inputs(n)
    A = reshape(pattern(n*n*n, 37, 1021), [n,n,n])
end
function A = heat_3d(A)
    n = size(A, 0)
    A = copy(A)
    B = copy(A)
    for t = 1..10
        for i = 1..n-2
            for j = 1..n-2
                for k = 1..n-2
                    B[i,j,k] = 0.125*(A[i+1,j,k] - 2*A[i,j,k] + A[i-1,j,k]) + 0.125*(A[i,j+1,k] - 2*A[i,j,k] + A[i,j-1,k]) + 0.125*(A[i,j,k+1] - 2*A[i,j,k] + A[i,j,k-1]) + A[i,j,k]
                end
            end
        end
        for i = 1..n-2
            for j = 1..n-2
                for k = 1..n-2
                    A[i,j,k] = 0.125*(B[i+1,j,k] - 2*B[i,j,k] + B[i-1,j,k]) + 0.125*(B[i,j+1,k] - 2*B[i,j,k] + B[i,j-1,k]) + 0.125*(B[i,j,k+1] - 2*B[i,j,k] + B[i,j,k-1]) + B[i,j,k]
                end
            end
        end
    end
end
