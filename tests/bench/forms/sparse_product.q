% A matrix in compressed rows times a vector.
function [start, column, value, x] = inputs()
    n = 20000
    start = int((0..n)*10)
    column = int(mod((0..10*n-1)*7919, n))
    value = mod(0..10*n-1, 17)/16
    x = mod(0..n-1, 13)/8
end
function y = with_while(start, column, value, x)
    n = numel(start) - 1
    y = zeros(1, n)
    for i = 0..n-1
        s = 0
        k = start[i]
        while k < start[i+1]
            s += value[k]*x[column[k]]
            k = k + 1
        end
        y[i] = s
    end
end
function y = with_for(start, column, value, x)
    n = numel(start) - 1
    y = zeros(1, n)
    for i = 0..n-1
        s = 0.0
        for k = start[i]..start[i+1]-1
            s += value[k]*x[column[k]]
        end
        y[i] = s
    end
end
function s = row(start, column, value, x, i)
    s = 0
    for k = start[i]..start[i+1]-1
        s += value[k]*x[column[k]]
    end
end
function y = with_function(start, column, value, x)
    n = numel(start) - 1
    y = zeros(1, n)
    for i = 0..n-1
        y[i] = row(start, column, value, x, i)
    end
end
function y = with_element(start, column, value, x)
    n = numel(start) - 1
    y = zeros(1, n)
    for i = 0..n-1
        for k = start[i]..start[i+1]-1
            y[i] += value[k]*x[column[k]]
        end
    end
end
