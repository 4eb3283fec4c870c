x = [1,2]
try
    print x.shape
catch e
    print e
end
try
    x.append(3)
catch e
    print e
end
try
    x = [x,3]
catch e
    print e
end
