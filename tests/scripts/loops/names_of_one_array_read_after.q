% options: --loops always
% The arrays of a loop are one, and an inner loop without stores is vectorized: elements are read again after a store.
function x = f(n)
    t = 0.5
    A = float64([[1,2,3],[4,5,6],[7,8,9]])
    x = [0.5,0.25,0.125]
    y = [1,2,3]
    B = A
    for i = 0..n-1
        t = t*0.25 + x[i]*B[0,i]*0.1
        A[i,i] -= B[i,i]*x[i]*0.01
        t = y[i]
        for j = 0..min(i,4)
            t = t*0.25 + x[i]/3*0.1
        end
        x[i] = t*0.5 + B[i,i]
    end
end
printf("%.17g", f(3))
