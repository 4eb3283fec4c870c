x = [1,2]
i = 5
print i < 2 ? x[i] : -1
r = true ? [] : 3
print numel(r)
