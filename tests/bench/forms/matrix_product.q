% The product of two matrices by loops.
function [a, b] = inputs()
    a = reshape(mod(0..39999, 37)/32, [200,200])
    b = reshape(mod(0..39999, 11)/16, [200,200])
end
function c = rows_columns(a, b)
    n = size(a, 0)
    c = zeros(n, n)
    for i = 0..n-1
        for j = 0..n-1
            s = 0
            for k = 0..n-1
                s += a[i,k]*b[k,j]
            end
            c[i,j] = s
        end
    end
end
function c = rows_of_products(a, b)
    n = size(a, 0)
    c = zeros(n, n)
    for i = 0..n-1
        for k = 0..n-1
            for j = 0..n-1
                c[i,j] += a[i,k]*b[k,j]
            end
        end
    end
end
function c = element_sums(a, b)
    n = size(a, 0)
    c = zeros(n, n)
    for i = 0..n-1
        for j = 0..n-1
            for k = 0..n-1
                c[i,j] += a[i,k]*b[k,j]
            end
        end
    end
end
function c = with_slices(a, b)
    n = size(a, 0)
    c = zeros(n, n)
    for i = 0..n-1
        for k = 0..n-1
            c[i,:] = c[i,:] + a[i,k]*b[k,:]
        end
    end
end
