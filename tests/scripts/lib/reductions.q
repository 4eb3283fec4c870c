A = [[1,2,3],[4,5,6]]
print sum(A), " ", sum(A,0), sum(A,1), prod(A), " ", prod([1,2,3]), mean(A), " ", mean(A,0), mean(A,1)
print var([1,2,3,4]), " ", std([1,1,1]), " ", var(A, 0), std([5])
print median([3,1,2]), median([4,1,2,3]), " ", median(transpose([3,1,2]))[0], " ", median(A), median(A,1)
print min(A), max(A), " ", min(A, 3), max(2, A), " ", min(3,4), max([1,5],[4,2]), " ", max(A, [], 0), min(A, [], 1)
[m, i] = min([3,1,2,1])
print m, i
[m, i] = max(A, [], 1)
print m, i
print find_index_min([3,1,2]), find_index_max(A)
print any([0,0]), any([0,1]), all([1,0]), all([]), all(A > 0), " ", any(A > 5, 0), all(A > 3, 1)
print cumsum([1,2,3]), cumsum(A,0), cumsum(A,1), cumprod([1,2,3]), cumsum(A)
print dotprod([1,2,3],[4,5,6]), " ", norm([3,4]), " ", squared_norm([1,2,3]), " ", dotprod([1j],[1j]), " ", norm([3+4j])
print sum([0/0, 1]), " ", min([0/0, 2]), " ", max([0/0, 2]), " ", sum(5), sum([])
print sum([1+2j, 3]), " ", mean([1+1j, 3+3j])
print sum([true,false,true]), " ", type(sum([1]))
try
    print max([])
catch e
    print e
end
