% The product of a transposed matrix and a vector.
function [a, v] = inputs()
    a = reshape(mod(0..999999, 251)/8, [1000,1000])
    v = mod(0..999, 37)/8
end
function y = with_transpose(a, v)
    y = transpose(transpose(a)*transpose(v))
end
function y = with_row(a, v)
    y = v*a
end
function y = with_for(a, v)
    y = zeros(1, size(a,1))
    for i = 0..size(a,0)-1
        for j = 0..size(a,1)-1
            y[j] += a[i,j]*v[i]
        end
    end
end
function y = with_sum(a, v)
    y = sum(a.*transpose(v), 0)
end
