function [] = fill(v : vec, x)
    v[0] = x
    v = [0,0]
end
a = [1,2]
fill(a, 8)
print a
b = copy(a)
b[1] = 5
print a, b
