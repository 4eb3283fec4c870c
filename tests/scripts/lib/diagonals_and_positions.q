print diag([1,2]), " ", diag([[1,2],[3,4]]), " ", diag(transpose([5,6])), " ", diagm([7,8])
print triu(ones(3,3)), tril(ones(2,3)), triu(ones(2,2), 1)
print ind2pos([2,3], 4), " ", ind2pos([2,3], [0,5]), " ", ind2pos([2,3,4], 23)
print pos2ind([2,3], [1,1]), " ", pos2ind([2,3], [[0,0],[1,2]])
try
    print ind2pos([2,3], 6)
catch e
    print e
end
try
    print pos2ind([2,3], [2,0])
catch e
    print e
end
try
    ind2pos([4294967296,4294967296,4294967296], 0)
catch e
    print e
end
