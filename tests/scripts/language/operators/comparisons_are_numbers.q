w = [-2,0.5,3]
print w.*(abs(w) > 1)
print (w > 0) + 1
print sum(w > 0)
print true + true, " ", (3 > 2)*5
print [1,0] && [1,1], " ", [0,0] || [1,0], " ", ![1,0]
