% options: --loops always --explain
% The guard finds that a clipped window has elements, so that its maximum cannot fail.
function y = extremes(x, r)
    [n, m] = size(x)
    y = zeros(n, m)
    for i = 0..n-1
        for j = 0..m-1
            y[i,j] = max(x[max(0,i-r)..min(n-1,i+r), max(0,j-r)..min(m-1,j+r)]) - min(x[i,max(j-1,0)..min(j+1,m-1)])
        end
    end
end
x = mod(reshape((0..39*41-1)*37, [39,41]), 101)
print sum(extremes(x, 1)), " ", sum(extremes(x, 2)), " ", sum(extremes(x, 40))

% So are bounds that an `if` or a choice limits.
function y = sums(x, r)
    [n, m] = size(x)
    y = zeros(n, m)
    for i = 0..n-1
        for j = 0..m-1
            first = j - r
            if first < 0
                first = 0
            end
            last = j + r > m-1 ? m-1 : j + r
            for k = first..last
                y[i,j] += x[i,k]
            end
        end
    end
end
print sum(sums(x, 1)), " ", sum(sums(x, 2)), " ", sum(sums(x, 40))
function y = means(x, r)
    [n, m] = size(x)
    y = zeros(n, m)
    for i = 0..n-1
        for j = 0..m-1
            last = j + r
            if last >= m
                last = m - 1
            end
            y[i,j] = sum(x[i,max(j-r,0)..last])
        end
    end
end
print sum(means(x, 1)), " ", sum(means(x, 2)), " ", sum(means(x, 40))
