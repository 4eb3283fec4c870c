% options: --loops always
s = 0
n = 0
for i=-3..3
    s = s*10 + clamp(i, -1, 2)
    n = n*10 + clamp(i, 2) + clamp(0/0, 0, 1)
end
print s, " ", n
