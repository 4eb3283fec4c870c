% Product of a matrix and a vector, added to a vector.
function [A, x] = inputs()
    A = mod(reshape(0..639999, [800, 800])*0.37, 1)
    x = mod((0..799)*0.73, 1)
end
function y = with_for(A, x)
    y = zeros(1, 800)
    for i = 0..799
        for j = 0..799
            y[i] += A[i,j]*x[j]
        end
    end
end
function y = with_while(A, x)
    y = zeros(1, 800)
    i = 0
    while i < 800
        j = 0
        while j < 800
            y[i] += A[i,j]*x[j]
            j += 1
        end
        i += 1
    end
end
function y = with_variable(A, x)
    y = zeros(1, 800)
    for i = 0..799
        s = 0
        for j = 0..799
            s += A[i,j]*x[j]
        end
        y[i] = s
    end
end
function y = with_rows(A, x)
    y = zeros(1, 800)
    for i = 0..799
        y[i] = sum(A[i,:].*x)
    end
end
function y = with_product(A, x)
    y = transpose(A*transpose(x))
end
