% options: --loops always --explain --threads 1
% Inside an inner loop its range is not empty: x[i-1] exists in `for j = 1..i`, so that the guard admits the quick version.
function v = pascal(n)
    t = zeros(n+1, n+1)
    for i = 0..n
        t[i,0] = 1
        for j = 1..i
            t[i,j] = mod(t[i-1,j-1] + t[i-1,j], 10007)
        end
    end
    v = t[n,:]
end
function y = downward(x)
    n = numel(x)
    y = copy(x)
    for i = n-1..-1..0
        for j = n-2..-1..i
            y[j] += y[i+1]*0.5
        end
    end
end
function y = too_far(x)
    y = copy(x)
    try
        for i = 0..numel(x)-1
            for j = 1..i
                y[j] += y[i-2]
            end
        end
    catch e
        print e, " ", y
    end
end
function s = steps(x)
    s = 0
    for i = 0..numel(x)-1
        for j = 3..2..i
            s = s*0.5 + x[i-3]*x[j-3]
        end
    end
end
print pascal(7)
print downward([1,2,3,4])
too_far([1,2,3])
print steps(1..8)
