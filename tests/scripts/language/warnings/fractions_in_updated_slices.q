% An update of a slice at an index with a fraction warns once, in a loop as outside of it.
M = zeros(4,4)
M[0.5,:] += 1
M[1.5,1..2] = M[0.25,1..2]*2
M[:,0.75] -= M[:,1]
M[0.5,0.5] += 2
print M
for j = 0.5..3.5
    M[j,:] += 1
    M[:,j] = M[:,j]*2
end
print M
