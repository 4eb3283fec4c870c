% A sparse matrix, eight elements a row, times a vector, forty times
import "../inputs.q"
function [columns, values, x] = inputs(n)
    columns = integers(8*n, n)
    values = pattern(8*n, 53, 1021)/4
    x = pattern(n, 71, 1021)
end
function x = sparse_product(columns, values, x)
    n = numel(x)
    x = copy(x)
    y = zeros(n)
    for t = 1..40
        for i = 0..n-1
            s = 0
            for k = 8*i..8*i+7
                s += values[k]*x[columns[k]]
            end
            y[i] = s
        end
        for i = 0..n-1
            x[i] = y[i]
        end
    end
end
