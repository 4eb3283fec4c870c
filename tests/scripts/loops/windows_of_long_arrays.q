% options: --loops always --explain
% Sums of short windows of long arrays compile; where a window may be longer than 4096 elements, the interpreter runs.
function y = windows(x, r)
    n = numel(x)
    y = float64(zeros(n))
    for i = r..n-1-r
        y[i] = sum(x[i-r..i+r])
    end
end
function y = cut(x, r)
    n = numel(x)
    y = float64(zeros(n))
    for i = 0..n-1
        y[i] = sum(x[max(i-r,0)..min(i+r,n-1)])
    end
end
function y = filtered(x, h)
    m = numel(h)
    y = float64(zeros(numel(x)))
    for i = 0..numel(x)-m
        y[i] = dotprod(x[i..i+m-1], h)
    end
end
x = (0..4999)*7 + 0.25
w = windows(x, 4)
print w[100], " ", w[3], " ", w[4995]
w = cut(x, 4)
print w[0], " ", w[100], " ", w[4999]
w = filtered(x, [1,-2,1,0,3])
print w[0], " ", w[4995]
% windows of 4401 elements
w = windows(x, 2200)
print w[2200] == sum(x[0..4400]), " ", w[2799] == sum(x[599..4999])
w = cut(x, 2200)
print w[2200] == sum(x[0..4400]), " ", w[0] == sum(x[0..2200])
