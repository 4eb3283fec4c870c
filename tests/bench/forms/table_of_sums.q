% All sums of two vectors' elements.
function [a, b] = inputs()
    a = transpose(mod(0..999, 37)/8)
    b = mod(0..999, 41)/8
end
function y = with_expression(a, b)
    y = a + b
end
function y = with_repmat(a, b)
    y = repmat(a, 1, numel(b)) + repmat(b, numel(a), 1)
end
function y = with_for(a, b)
    y = zeros(numel(a), numel(b))
    for i = 0..numel(a)-1
        for j = 0..numel(b)-1
            y[i,j] = a[i,0] + b[j]
        end
    end
end
function y = with_rows(a, b)
    y = zeros(numel(a), numel(b))
    for i = 0..numel(a)-1
        y[i,:] = a[i,0] + b
    end
end
