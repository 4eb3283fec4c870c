x = reshape(0..15, [4,4])
print x[0..1]
x[[2,3]] += 100
x[0..1] = 99
print x[2,3], " ", x[0,1]
pos = [1,2]
print x[pos], " ", x[[pos[0],3]], " ", x[0..1,:]
v = 0..5
print v[0..1], v[[2,3]]
c = cell(2,2)
c[0..1] = "text"
print c[0,1]
for bad = {0..2, [1,2,3]}
    try
        x[bad]
    catch e
        print e
    end
end
print x[[1,2,0]]
y = reshape(0..7, [2,2,2])
print y[[1,0,1]], " ", y[0..1,0,0]
