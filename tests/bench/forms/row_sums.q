% The sum of each row.
function x = inputs()
    x = reshape(mod(0..999999, 251)/8, [1000,1000])
end
function s = with_sum(x)
    s = sum(x, 1)
end
function s = with_for(x)
    s = zeros(size(x,0), 1)
    for i = 0..size(x,0)-1
        t = 0
        for j = 0..size(x,1)-1
            t += x[i,j]
        end
        s[i,0] = t
    end
end
function s = with_rows(x)
    s = zeros(size(x,0), 1)
    for i = 0..size(x,0)-1
        s[i,0] = sum(x[i,:])
    end
end
function s = with_product(x)
    s = x*ones(size(x,1), 1)
end
