a = 0.0
v = {ones(2,2), 2*ones(2,2)}
for k = 0..1
    a += v[k]
end
print a
a = "now a string"
print a
