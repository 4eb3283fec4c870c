% options: --loops always
% The comparison of a search for an extreme is used for something else, too: it depends on the order.
function [m, n] = counted(x)
    m = 0.0
    n = 0
    for i = 0..numel(x)-1
        n += m < x[i]
        if m < x[i]
            m = x[i]
        end
    end
end
function [m, n, k] = kept(x)
    m = 0.0
    n = 0
    k = 0
    for i = 0..numel(x)-1
        c = x[i] >= m
        n += c ? i : 0
        if c
            m = x[i]
            k = i
        end
    end
end
function [] = __kernel__ counted_of_row(x : mat, y : mat, pos : int)
    m = 0.0
    n = 0
    k = 0
    for j = 0..size(x,1)-1
        c = x[pos,j] > m
        m = c ? x[pos,j] : m
        k = c ? j : k
        n = c ? n + 1 : n
    end
    y[pos,0] = m
    y[pos,1] = n
    y[pos,2] = k
end
x = mod((0..999)*37, 101)
[m, n] = counted(x)
print m, " ", n
[m, n, k] = kept(x)
print m, " ", n, " ", k
y = zeros(1,3)
parallel_do(1, reshape(x, [1,1000]), y, counted_of_row)
print y
