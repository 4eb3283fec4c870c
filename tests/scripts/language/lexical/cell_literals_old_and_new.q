c = {1, "a", [1,2]}
print numel(c), " ", c[1]
d = `4, 5'
print d[0] + d[1]
e = {}
print numel(e)
print type({1+2j, 3j}), " ", type({[1,2],[3]}), " ", type({1,"a"})
