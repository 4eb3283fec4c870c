% A list of 50000 levels: its type does not grow with it.
c = {}
for i = 1..50000
    c = {c}
end
n = 0
while numel(c) > 0
    c = c[0]
    n += 1
end
print n, " ", type({{{1..3}}})
