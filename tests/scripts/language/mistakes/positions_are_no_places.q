% Positions from find are not a list of indices, and a range is not a test in match; both are reported, and run.
x = [1,5,7]
x[find(x > 2)] = 0
rows = find(x == 0)
y = [4,5,6]
print y[rows], y[rows[:,1]]
match 3 with
| 1..5 -> print "between"
| [3,4] -> print "a pair"
| _ -> print "as documented"
end
sum = 3
try
    print sum([1,2])
catch e
    print e
end
try
    print (3)(1)
catch e
    print e
end
print zeros(5/2), size(reshape(1..4, [2.5,2]))
print x[1.25]
