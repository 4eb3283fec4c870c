% Built-ins have some results only for some arguments.  A result that is not given is an error, not null.
d = [[3,1,2],[4,6,5]]
try
    [m, i] = max(d, 1)
catch e
    print e
end
try
    [m, i] = min(d, [5,6,1])
catch e
    print e
end
[m, i] = max(d, [], 1)
print m, i
