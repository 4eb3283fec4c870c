import "../inputs.q"
function A = inputs(n)
    A = pattern(n, 37, 1021)
end
function A = jacobi_1d(A)
    n = numel(A)
    A = copy(A)
    B = copy(A)
    for t = 1..1000
        for i = 1..n-2
            B[i] = 0.33333*(A[i-1] + A[i] + A[i+1])
        end
        for i = 1..n-2
            A[i] = 0.33333*(B[i-1] + B[i] + B[i+1])
        end
    end
end
