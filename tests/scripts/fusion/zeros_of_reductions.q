% options: --loops always
% Sums, means, minima and maxima in an expression have the sign of zero that the operations one by one give: a sum is -0
% only if all elements are, and -0 is the smaller zero at every position.
function [] = compare(name, a, b)
    same = isequal(a, b) || all(isnan(a) == isnan(b) && (isnan(a) || a == b))
    if !same || !all(isnan(a) || 1./a == 1./b || a != 0), print name, " differs: ", a, " ", b, end
end
function [] = rows(name, x)
    t = x.*1
    compare(name + " sum of rows", sum(x.*1,1) + -0.0, sum(t,1))
    compare(name + " mean of rows", mean(x.*1,1) + -0.0, mean(t,1))
    compare(name + " min of rows", min(x.*1,[],1) + -0.0, min(t,[],1))
    compare(name + " max of rows", max(x.*1,[],1) + -0.0, max(t,[],1))
end
function [] = whole(name, x)
    t = x.*1
    s = sum(t)
    compare(name + " sum", [sum(x.*1)], [s])
    s = mean(t)
    compare(name + " mean", [mean(x.*1)], [s])
    s = min(t)
    compare(name + " min", [min(x.*1)], [s])
    s = max(t)
    compare(name + " max", [max(x.*1)], [s])
end
function [] = try_all(name, x)
    rows(name, x)
    whole(name, x)
    y = float64(x)
    rows(name + " float64", y)
    whole(name + " float64", y)
end
function x = filled(rows, cols, v)
    x = zeros(rows, cols)
    x[:,:] = v
end

for n = {1, 3, 8, 37, 100}
    try_all("minus", filled(3, n, -0.0))
    try_all("plus", filled(3, n, 0.0))
    for k = {0, int(n/2), n-1}
        x = filled(3, n, -0.0)
        x[:,k] = 0.0
        try_all("one plus", x)
        x = filled(3, n, 0.0)
        x[1,k] = -0.0
        try_all("one minus", x)
        x = filled(3, n, nan)
        try_all("nan", x)
        x[0,k] = -0.0
        x[1,k] = 0.0
        try_all("zero beside nan", x)
        x = filled(3, n, -inf)
        x[1,k] = -0.0
        x[2,k] = nan
        try_all("beside -inf", x)
        try_all("beside inf", -x)
    end
end
z = filled(3, 0, 1)
t = sum(z,1)
print 1./(sum(z.*1,1) + -0.0), 1./t
minus = filled(2, 40, -0.0)
mixed = filled(2, 40, -0.0)
mixed[0,35] = 0.0
print 1./(sum(minus.*1,1) + -0.0), 1./(max(mixed.*1,[],1) + -0.0), 1./(min(mixed.*1,[],1) + -0.0)
print 1/sum(minus.*1), 1/max(mixed.*1), 1/min(mixed.*1), 1/min(-mixed.*1)
print 1/dotprod(zeros(0), zeros(0)), 1/sum(zeros(0)), 1/sum(zeros(0).*1)
