% options: --loops always
% A list as the only index of a matrix is one element: the warning says so, unless a number of it has a fraction.
A = [[1,2,3],[4,5,6]]
s = 0
for i = 0..3
    s += A[[1/3,2]]
end
k = 0.5
for i = 0..3
    s += A[[k,2]]
    k += 0.25
end
for i = 0..1
    s += A[[i,2]]
end
print s
