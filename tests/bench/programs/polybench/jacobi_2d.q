import "../inputs.q"
function A = inputs(n)
    A = field(n, n)
end
function A = jacobi_2d(A)
    A = copy(A)
    B = copy(A)
    n = size(A, 0)
    for t = 1..20
        for i = 1..n-2
            for j = 1..n-2
                B[i,j] = 0.2*(A[i,j] + A[i,j-1] + A[i,j+1] + A[i+1,j] + A[i-1,j])
            end
        end
        for i = 1..n-2
            for j = 1..n-2
                A[i,j] = 0.2*(B[i,j] + B[i,j-1] + B[i,j+1] + B[i+1,j] + B[i-1,j])
            end
        end
    end
end
