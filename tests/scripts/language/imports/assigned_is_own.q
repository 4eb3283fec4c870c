% A top-level assignment of a file, by = or +=, creates its own variable; += begins with the imported value.
import "own/one.q"
print scale
scale += 3
print scale, " ", scaled(1)
for k = 1..1000
    scale += 1
end
print scale, " ", scaled(1)
table = table + 1
table += 1
print table
limit = limit*2
print limit, " ", inside(15)
for limit = 0..1
end
