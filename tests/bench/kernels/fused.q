n = 8388608
a = (0..n-1)/n
b = ones(n)
c = 2*ones(n)
best = 1/0
for k = 1..12
    tic()
    y = a + b.*c - a.*a
    best = min(best, toc(""))
end
print best, " ", sum(y)
