% Computed zeros and ones are indices, not a mask.
x = [5,6,7,8]
w = float(x > 5).*1
print x[w]
print x[x > 5], " ", x[[0,1,1,0]], " ", x[[0,1]]
two = [7,8]
print two[float(two > 7)]
for i = 0..1
    x[w] = 0
end
print x
palette = [10,20,30,40]
labels = [0,1,1,0]*1
print palette[int(labels)]
{!warnings off}
print palette[labels]
{!warnings on}
print palette[uint8(labels)]
