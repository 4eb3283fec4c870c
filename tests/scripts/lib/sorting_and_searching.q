print sort([3,1,2]), " ", sort([3,1,2], "descend"), sort([[3,1],[2,5]]), sort([[3,1],[2,5]], 1)
[y, i] = sort([30,10,20,10])
print y, i
[y, i] = sort([1,3,0/0,2], "descend")
print y, i
print sort([-1.5, 0, -0.0, 2, -1/0, 1/0])
n = 1000
randseed(3)
x = randperm(n)
[y, i] = sort(x)
print all(y == 0..n-1), all(x[i] == y)
u : vec[uint8] = [200, 3, 100]
print sort(u), " ", type(sort(u))
s : vec[int16] = [-5, 3, -100]
print sort(s)
print find([0,1,0,1]), " ", find([[0,1],[1,0]])
print find([0,1,0,1])[:,1], " ", isempty(find([0,0])), " ", size(find([0,0]))
print unique([3,1,2,1,3]), unique([])
try
    print sort([1j])
catch e
    print e
end
big = int64([9007199254740992,9007199254740992,9007199254740992]) + int64([1,0,1])
[m, i] = min(big)
[n, j] = max(big, [], 1)
print m, " ", i, " ", n, j, find_index_min(big), find_index_max(big[1..2]), find_index_max(uint64([0]) - uint64([1])), find_index_min(transpose(horzcat(big,-big)))
