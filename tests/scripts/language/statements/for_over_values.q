for v = [5,7]
    print v
end
for s = {"a", 2}
    print s
end
