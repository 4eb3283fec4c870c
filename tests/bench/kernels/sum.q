n = 16777216
x = ones(n)
best = 1/0
for k = 1..12
    tic()
    s = sum(x)
    best = min(best, toc(""))
end
print best, " ", s
