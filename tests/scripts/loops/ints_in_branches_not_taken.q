% options: --loops always
% Only operations that are executed may report an overflow.
big = int(9.2e18)
d = int(1)
n = 0
for i=0..9
    t = d < 0 ? big + big : d
    if d < 0 && big + big > 0
        n += 1
    end
    n += t
    d = t + int(i)
end
print n, " ", d
