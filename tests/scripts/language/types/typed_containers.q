a = vec[mat](2)
a[0] = ones(2,2)
print numel(a), " ", sum(a[0]), " ", numel(a[1])
try
    a[1] = "text"
catch e
    print e
end
b = cell(2,2)
b[1,0] = "x"
print b[1,0], " ", size(b)
c = vec[vec](3)
c[1] = [1,2,3,4]
print c[1][2]
d = {1, {2, {3}}}
print d[1][1][0]
d[1][0] = "changed"
print d
print size(mat([2,3,4])), size(vec([1,5]))
try
    x = mat(2,3,4)
catch e
    print e
end
