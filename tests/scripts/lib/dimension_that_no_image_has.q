x = [[1,2],[3,4]]
print mean(x, 2), " ", size(sum(ones(2,2,2,2), 3))
try
    print mean(x, 3)
catch e
    print e
end
try
    print sort(x, 5)
catch e
    print e
end
try
    print max(ones(2,2,2), [], 4)
catch e
    print e
end
try
    print cumsum(x, 7)
catch e
    print e
end
